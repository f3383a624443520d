// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pugixml.hpp>

#include "sim/files/text_file.hpp"

namespace gradway {

/// An XML file and the places of what stands in it. Document types are skipped and no entities but XML's own
/// are replaced.
class XmlFile {
 public:
  /// @throws ConfigError at what is no XML, or nested more than 64 deep
  explicit XmlFile(TextFile text);

  pugi::xml_node root() const { return document_.document_element(); }

  /// The element's name.
  Where at(const pugi::xml_node& element) const;
  /// The attribute's value; the element's name if it has no such attribute.
  Where at(const pugi::xml_node& element, std::string_view attribute) const;

  /// An attribute's value; empty if there is none. @throws ConfigError if it has control characters
  std::string attribute(const pugi::xml_node& element, const char* name) const;
  /// Nothing if there is none, or an empty one. @throws ConfigError if it is not from `least` to `most`;
  /// numbers may be written as 0x1f
  std::optional<int> whole(const pugi::xml_node& element, const char* name, int least, int most) const;
  std::optional<double> number(const pugi::xml_node& element, const char* name, double least,
                               double most) const;

 private:
  Where place(std::size_t offset, std::size_t length) const;

  TextFile text_;
  std::vector<TextLine> lines_;
  pugi::xml_document document_;
};

}  // namespace gradway
