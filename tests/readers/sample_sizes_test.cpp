// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>

#include "readers/dataset/dataset.hpp"
#include "sim/base/problem.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using Catch::Matchers::Contains;

namespace {

/// A member of a tar file: header, content, padding.
std::string member(const std::string& name, std::size_t size, char kind = '0', std::string content = "") {
  std::string block(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { block.replace(at, text.size(), text); };
  put(0, name.substr(0, 100));
  std::string octal;
  for (auto left = size; left > 0; left /= 8) octal.insert(octal.begin(), static_cast<char>('0' + left % 8));
  put(124, std::string(11 - octal.size(), '0') + octal);
  block[156] = kind;
  put(257, "ustar");
  put(148, "        ");
  const auto sum =
      std::accumulate(block.begin(), block.end(), 0U, [](unsigned all, unsigned char c) { return all + c; });
  std::string digits;
  for (auto left = sum; left > 0; left /= 8) digits.insert(digits.begin(), static_cast<char>('0' + left % 8));
  put(148, std::string(6 - digits.size(), '0') + digits + '\0' + ' ');
  content.resize(size, 'x');
  content.resize((size + 511) / 512 * 512, '\0');
  return block + content;
}

const std::string end(1024, '\0');
using Sizes = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("a folder has one file per sample", "[import][dataset]") {
  const test::TemporaryFolder folder;
  folder.write("a/1.jpg", std::string(100, 'x'));
  folder.write("a/2.JPG", std::string(300, 'x'));
  folder.write("b/3.txt", std::string(200, 'x'));
  const auto sizes = sample_sizes(folder.path());
  CHECK_FALSE(sizes.shards);
  CHECK(sizes.bytes == Sizes{100, 300, 200});
  CHECK(sizes.mean() == 200_B);
  CHECK(sizes.spread() == Approx(std::sqrt(20000.0 / 3) / 200));
  CHECK(sizes.mostly_packed());
  CHECK_THAT(dataset_yaml(sizes), Contains("samples: 3\nsample_size: 200 B\nspread: 0.4082\nformat: files\n"
                                           "compressible: false\n"));
}

TEST_CASE("in a tar file, members with the same name up to the first dot are a sample", "[import][dataset]") {
  const test::TemporaryFolder folder;
  folder.write("one.tar", member("d/", 0, '5') + member("d/0.jpg", 1000) + member("d/0.cls", 2) +
                              member("d/1.seg.png", 513) + member("d/1.json", 7) + member("l", 0, '2') + end);
  const auto sizes = sample_sizes(folder.path() / "one.tar");
  CHECK(sizes.shards);
  CHECK(sizes.bytes == Sizes{1002, 520});
  CHECK(sizes.packed_bytes == 1513);
}

TEST_CASE("long names and sizes of GNU's tar and of pax count", "[import][dataset]") {
  const test::TemporaryFolder folder;
  const auto name = std::string(150, 'n');
  const auto gnu = member("././@LongLink", name.size() + 5, 'L', name + ".jpg");
  const std::string path = "17 path=d/7.json\n";
  const auto pax = member("PaxHeaders/x", path.size(), 'x', path);
  folder.write("long.tar", gnu + member(name, 10) + gnu + member(name, 20) + pax + member("other", 30) +
                               member("d/7.jpg", 5) + end);
  CHECK(sample_sizes(folder.path() / "long.tar").bytes == Sizes{30, 35});
}

TEST_CASE("a folder of tar files is shards", "[import][dataset]") {
  const test::TemporaryFolder folder;
  folder.write("s/0.tar", member("a.x", 10) + member("b.x", 20) + end);
  folder.write("s/1.tar", member("b.x", 30));  // ends without the two empty blocks
  const auto sizes = sample_sizes(folder.path() / "s");
  CHECK(sizes.bytes == Sizes{10, 20, 30});
  CHECK_FALSE(sizes.mostly_packed());
  CHECK_THAT(dataset_yaml(sizes), Contains("format: shards\nrequest: 8 MiB"));
}

TEST_CASE("files that cannot be measured are refused by name", "[import][dataset]") {
  const test::TemporaryFolder folder;
  const auto error_of = [&](const std::string& name) {
    return test::message_of([&] { return sample_sizes(folder.path() / name), 0; });
  };
  folder.write("d/part.tfrecord", "x");
  CHECK_THAT(error_of("d"), Contains("part.tfrecord") &&
                                Contains("gradway cannot read the sizes of samples in TFRecord files"));
  folder.write("a.tar.gz", "x");
  CHECK_THAT(error_of("a.tar.gz"), Contains("packed tar"));
  folder.write("mixed/a.tar", member("a", 1) + end);
  folder.write("mixed/b.jpg", "x");
  CHECK_THAT(error_of("mixed"), Contains("b.jpg") && Contains("this is not a tar file, but 1 other"));
  folder.write("plain.bin", "x");
  CHECK_THAT(error_of("plain.bin"), Contains("neither a folder nor a tar or Parquet file"));
  CHECK_THAT(error_of("none"), Contains("there is no such file or folder"));
  folder.write("empty.tar", end);
  CHECK_THAT(error_of("empty.tar"), Contains("it contains no samples"));
  folder.write("e/empty.jpg", "");
  CHECK_THAT(error_of("e"), Contains("all samples are empty"));
}

TEST_CASE("damaged tar files are refused", "[import][dataset]") {
  const test::TemporaryFolder folder;
  const auto error_of = [&](const std::string& content) {
    folder.write("t.tar", content);
    return test::message_of([&] { return sample_sizes(folder.path() / "t.tar"), 0; });
  };
  const auto whole = member("a", 1000) + member("b", 10);
  CHECK_THAT(error_of(std::string(2000, 'x')), Contains("this is not a tar file"));
  CHECK_THAT(error_of(whole.substr(0, 900)), Contains("is truncated inside the file that begins at byte 0"));
  CHECK_THAT(error_of(whole.substr(0, 1700)),
             Contains("damaged after the file that begins at byte 0: Truncated tar archive"));
  auto wrong = whole;
  wrong[1536] = 'c';
  CHECK_THAT(error_of(wrong), Contains("damaged after the file that begins at byte 0: Damaged tar archive"));
}
