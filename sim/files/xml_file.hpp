// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pugixml.hpp>

#include "sim/files/text_file.hpp"

namespace gradway {

/// An XML file with places of elements and attributes. Document types are skipped, and only XML's own
/// entities are replaced.
class XmlFile {
 public:
  /// @throws ConfigError for invalid XML, or elements nested deeper than 64 levels
  explicit XmlFile(TextFile text);

  pugi::xml_node root() const { return document_.document_element(); }

  /// Place of the element's name.
  Where at(const pugi::xml_node& element) const;
  /// Place of the attribute's value; of the element's name if there is no such attribute.
  Where at(const pugi::xml_node& element, std::string_view attribute) const;

  /// An attribute's value; empty if missing. @throws ConfigError if it contains control characters
  std::string attribute(const pugi::xml_node& element, const char* name) const;
  /// An integer attribute; empty if missing or empty. @throws ConfigError if it is not from `least` to
  /// `most`; numbers may be written as 0x1f
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
