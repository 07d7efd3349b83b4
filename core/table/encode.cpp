#include "table/encode.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace tacit {
namespace {

constexpr std::int64_t kBetweenChecks = 1 << 18;
constexpr std::uint32_t kEmpty = 0xffffffffu;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = a * 0x9e3779b97f4a7c15u;
  h = ((h ^ (h >> 32)) + b) * 0xd6e8feb86659fd93u;
  h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 32);
}

// Open addressing over codes; the caller says whether a code's key equals the one looked for.
class CodeTable {
 public:
  CodeTable() : slots_(64, kEmpty), hashes_(64) {}

  // The code of the key with this hash, or kEmpty with `slot` set to where it belongs.
  template <class Same>
  std::uint32_t find(std::uint64_t hash, const Same& same, std::size_t& slot) const {
    const std::size_t mask = slots_.size() - 1;
    for (slot = hash & mask;; slot = (slot + 1) & mask) {
      const std::uint32_t code = slots_[slot];
      if (code == kEmpty || (hashes_[slot] == hash && same(code))) return code;
    }
  }

  void insert(std::size_t slot, std::uint64_t hash, std::uint32_t code) {
    slots_[slot] = code;
    hashes_[slot] = hash;
    if (++used_ * 2 > slots_.size()) grow();
  }

 private:
  void grow() {
    std::vector<std::uint32_t> slots(slots_.size() * 2, kEmpty);
    std::vector<std::uint64_t> hashes(slots.size());
    const std::size_t mask = slots.size() - 1;
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      if (slots_[k] == kEmpty) continue;
      std::size_t slot = hashes_[k] & mask;
      while (slots[slot] != kEmpty) slot = (slot + 1) & mask;
      slots[slot] = slots_[k];
      hashes[slot] = hashes_[k];
    }
    slots_.swap(slots);
    hashes_.swap(hashes);
  }

  std::vector<std::uint32_t> slots_;
  std::vector<std::uint64_t> hashes_;
  std::size_t used_ = 0;
};

std::uint32_t new_code(Encoding& encoding, std::int64_t position) {
  if (encoding.first.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw std::length_error("more than 2^31 distinct values in a column");
  encoding.first.push_back(position);
  encoding.counts.push_back(0);
  return static_cast<std::uint32_t>(encoding.first.size() - 1);
}

std::uint32_t missing_code(Encoding& encoding, std::int64_t position) {
  if (encoding.missing < 0) encoding.missing = new_code(encoding, position);
  return static_cast<std::uint32_t>(encoding.missing);
}

struct Text {
  std::uint64_t head, tail;  // the view itself, for strings of at most 12 bytes
  const char* data;          // the characters of a longer one, or null
  std::uint32_t length;

  bool operator==(const Text& other) const {
    if (length != other.length) return false;
    if (!data) return head == other.head && tail == other.tail;
    return std::memcmp(data, other.data, length) == 0;
  }
};

Text read_view(const StringViews& chunk, std::int64_t k) {
  Text text;
  const std::uint8_t* view = chunk.views + 16 * (chunk.offset + k);
  std::memcpy(&text.head, view, 8);
  std::memcpy(&text.tail, view + 8, 8);
  std::memcpy(&text.length, view, 4);
  text.data = nullptr;
  if (text.length > 12) {
    std::int32_t where[2];  // buffer, offset
    std::memcpy(where, view + 8, 8);
    if (where[0] < 0 || where[0] >= chunk.n_buffers)
      throw std::out_of_range("a string view points to a buffer that is not there");
    text.data = static_cast<const char*>(chunk.buffers[where[0]]) + where[1];
  }
  return text;
}

std::uint64_t hash_text(const Text& text) {
  if (!text.data) return mix(text.head, text.tail);
  std::uint64_t h = text.length;
  std::uint32_t k = 0;
  for (; k + 8 <= text.length; k += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data + k, 8);
    h = mix(h, word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, text.data + k, text.length - k);
  return mix(h, rest);
}

// Values seen a moment ago, by a hash that costs next to nothing. A view of at most 12 bytes is the
// value. A longer one is known by where its characters lie: readers that decode a dictionary let
// equal views point to the same ones.
struct Recent {
  std::uint64_t head, tail;  // the tail is the address of the characters of a longer one
  std::uint32_t code;
};
constexpr std::int64_t kLeastRecent = 64, kMostRecent = 8192;  // entries: one for 16 values

}  // namespace

void encode_strings(const std::vector<StringViews>& chunks, Encoding& encoding, StopToken& token) {
  CodeTable table;
  std::vector<Text> texts;  // of each code
  std::int64_t length = 0;
  for (const StringViews& chunk : chunks) length += chunk.length;
  const auto n_recent =
      std::bit_ceil(static_cast<std::uint64_t>(std::clamp(length / 16, kLeastRecent, kMostRecent)));
  const int shift = 64 - std::countr_zero(n_recent);
  std::vector<Recent> recent(n_recent, Recent{~std::uint64_t{0}, ~std::uint64_t{0}, 0});
  std::vector<std::int64_t>
      odd;  // counts of every other value, so that equal neighbours do not wait
  std::int64_t position = 0;

  const auto look_up = [&](const Text& text, std::int64_t k) {
    const std::uint64_t hash = hash_text(text);
    std::size_t slot;
    std::uint32_t code = table.find(hash, [&](std::uint32_t c) { return texts[c] == text; }, slot);
    if (code == kEmpty) {
      code = new_code(encoding, position + k);
      texts.resize(code + std::size_t{1});
      texts[code] = text;
      table.insert(slot, hash, code);
      odd.resize(encoding.counts.size());
    }
    return code;
  };
  const auto code_of = [&](const StringViews& chunk, std::int64_t k) {
    const Text text = read_view(chunk, k);
    const std::uint64_t tail = text.data ? reinterpret_cast<std::uintptr_t>(text.data) : text.tail;
    Recent& entry = recent[((text.head ^ std::rotl(tail, 29)) * 0x9e3779b97f4a7c15u) >> shift];
    if (entry.head == text.head && entry.tail == tail) return entry.code;
    entry = {text.head, tail, look_up(text, k)};
    return entry.code;
  };

  for (const StringViews& chunk : chunks) {
    for (std::int64_t from = 0; from < chunk.length; from += kBetweenChecks) {
      token.check();
      const std::int64_t to = std::min(chunk.length, from + kBetweenChecks);
      std::uint32_t* const codes = encoding.codes + position;
      if (chunk.valid) {
        for (std::int64_t k = from; k < to; ++k) {
          const std::int64_t bit = chunk.offset + k;
          std::uint32_t code;
          if (chunk.valid[bit / 8] >> (bit % 8) & 1) {
            code = code_of(chunk, k);
          } else {
            code = missing_code(encoding, position + k);
            odd.resize(encoding.counts.size());
          }
          codes[k] = code;
          ++encoding.counts[code];
        }
      } else {
        std::int64_t k = from;
        for (; k + 1 < to; k += 2) {
          const std::uint32_t a = code_of(chunk, k), b = code_of(chunk, k + 1);
          codes[k] = a;
          codes[k + 1] = b;
          ++encoding.counts[a];
          ++odd[b];
        }
        for (; k < to; ++k) ++encoding.counts[codes[k] = code_of(chunk, k)];
      }
    }
    position += chunk.length;
  }
  for (std::size_t c = 0; c < odd.size(); ++c) encoding.counts[c] += odd[c];
}

void encode_keys(const std::vector<Keys>& chunks, Encoding& encoding, StopToken& token) {
  CodeTable table;
  std::vector<std::int64_t> known;  // key of each code
  // A short range of keys, the usual case, needs no hashing.
  std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = -low - 1;
  for (const Keys& keys : chunks)
    for (std::int64_t k = 0; k < keys.length; ++k)
      if (!keys.valid || keys.valid[k]) {
        low = std::min(low, keys.keys[k]);
        high = std::max(high, keys.keys[k]);
      }
  const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  std::vector<std::uint32_t> direct;
  if (low <= high && range < (1u << 16)) direct.assign(range + 1, kEmpty);
  std::int64_t position = 0;
  for (const Keys& keys : chunks) {
    for (std::int64_t k = 0; k < keys.length; ++k) {
      if (k % kBetweenChecks == 0) token.check();
      std::uint32_t code;
      if (keys.valid && !keys.valid[k]) {
        code = missing_code(encoding, position + k);
      } else if (!direct.empty()) {
        std::uint32_t& entry = direct[static_cast<std::size_t>(keys.keys[k] - low)];
        if (entry == kEmpty) entry = new_code(encoding, position + k);
        code = entry;
      } else {
        const std::int64_t key = keys.keys[k];
        const std::uint64_t hash = mix(static_cast<std::uint64_t>(key), 0);
        std::size_t slot;
        code = table.find(hash, [&](std::uint32_t c) { return known[c] == key; }, slot);
        if (code == kEmpty) {
          code = new_code(encoding, position + k);
          known.resize(code + std::size_t{1});
          known[code] = key;
          table.insert(slot, hash, code);
        }
      }
      encoding.codes[position + k] = code;
      ++encoding.counts[code];
    }
    position += keys.length;
  }
}

}  // namespace tacit
