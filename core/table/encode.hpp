// From values to codes: each distinct value of a column gets a number, in order of appearance.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"

namespace tacit {

// One chunk of an Arrow string-view array: 16 bytes a value, short strings inside the view, long
// ones in the buffers it points to. `valid` is a bitmap, or null where nothing is missing.
struct StringViews {
  const std::uint8_t* views;
  const std::uint8_t* valid;
  const void* const* buffers;
  std::int64_t n_buffers;
  std::int64_t offset;
  std::int64_t length;
};

// A chunk of 64-bit keys (integers, or the bits of anything that has no more); valid is a byte for each.
struct Keys {
  const std::int64_t* keys;
  const std::uint8_t* valid;
  std::int64_t length;
};

struct Encoding {
  std::uint32_t* codes;              // one for each value; written in full
  std::vector<std::int64_t> first;   // where each code appears first
  std::vector<std::int64_t> counts;  // how often
  std::int64_t missing = -1;         // the code of missing values, if there are any
};

// O(length) each; strings hash and compare 16 bytes unless they are longer than 12. Throws
// std::out_of_range if a view points outside its buffers' number, std::length_error beyond 2^31
// codes.
void encode_strings(const std::vector<StringViews>& chunks, Encoding& encoding, StopToken& token);
void encode_keys(const std::vector<Keys>& chunks, Encoding& encoding, StopToken& token);

}  // namespace tacit
