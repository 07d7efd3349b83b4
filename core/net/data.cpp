#include "net/data.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace tacit {
namespace {

// A look-up costs about as much as this many word operations.
constexpr std::int64_t kWordsForOne = 3;

std::int64_t words_of(std::int64_t n_records) {
  const std::int64_t words = (n_records + 63) / 64;
  return std::max<std::int64_t>(1, (words + kPopcountWords - 1) / kPopcountWords) * kPopcountWords;
}

}  // namespace

std::int64_t NetData::bytes(const NetTable& table) {
  const std::int64_t codes = table.n_records * table.n_columns * 2;
  const std::int64_t bits =
      table.weights ? 0 : 8 * words_of(table.n_records) * table.offsets[table.n_columns];
  return codes + bits;
}

NetColumns::NetColumns(std::int64_t n, const std::int64_t* offsets, const std::int64_t* missing) {
  for (std::int64_t c = 0; c < n; ++c) {
    arity_.push_back(static_cast<int>(offsets[c + 1] - offsets[c]) + 1);
    missing_.push_back(static_cast<int>(missing[c]));
  }
}

bool NetColumns::all_known() const {
  return std::all_of(missing_.begin(), missing_.end(), [](int code) { return code < 0; });
}

NetData::NetData(const NetTable& table)
    : columns_(table.n_columns, table.offsets, table.missing),
      n_records_(table.n_records),
      n_words_(words_of(table.n_records)),
      heavy_(table.weights ? std::numeric_limits<std::int64_t>::max() : n_words_ / kWordsForOne),
      total_(static_cast<double>(table.n_records)),
      weights_(table.weights) {
  int slots = 0;
  for (int c = 0; c < n_columns(); ++c) {
    first_.push_back(slots);
    slots += arity(c);
  }
  bitmaps_.resize(static_cast<std::size_t>(slots), nullptr);
  make_codes(table);
  if (weights_) {
    total_ = 0;
    for (std::int64_t r = 0; r < n_records_; ++r) total_ += weights_[r];
    common_.assign(static_cast<std::size_t>(n_columns()), 0);
  } else {
    make_bitmaps();
  }
}

void NetData::make_codes(const NetTable& table) {
  const auto n = static_cast<std::size_t>(n_records_);
  codes_ = Buffer<std::uint16_t>(n * static_cast<std::size_t>(n_columns()));
  for (int c = 0; c < n_columns(); ++c) {
    std::uint16_t* codes = codes_.data() + static_cast<std::size_t>(c) * n;
    const std::int64_t base = table.defaults[c];
    std::fill_n(codes, n, static_cast<std::uint16_t>(base));
    for (std::int64_t v = 0; v + 1 < arity(c); ++v) {
      const auto code = static_cast<std::uint16_t>(v + (v >= base));
      const std::int64_t id = table.offsets[c] + v;
      for (std::int64_t k = table.start[id]; k < table.start[id + 1]; ++k)
        codes[table.rows[k]] = code;
    }
  }
}

void NetData::make_bitmaps() {
  std::size_t slots = 0;
  for (int c = 0; c < n_columns(); ++c) slots += static_cast<std::size_t>(arity(c) - 1);
  words_ = Buffer<std::uint64_t>(slots * static_cast<std::size_t>(n_words_));
  std::fill(words_.begin(), words_.end(), 0);
  std::uint64_t* next = words_.data();
  for (int c = 0; c < n_columns(); ++c) {
    const std::uint16_t* column = codes(c);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(arity(c)));
    for (std::int64_t r = 0; r < n_records_; ++r) ++counts[column[r]];
    common_.push_back(
        static_cast<int>(std::max_element(counts.begin(), counts.end()) - counts.begin()));
    std::vector<std::uint64_t*> of(counts.size(), nullptr);
    for (int code = 0; code < arity(c); ++code) {
      if (code == common_.back()) continue;
      of[static_cast<std::size_t>(code)] = next;
      bitmaps_[static_cast<std::size_t>(first_[static_cast<std::size_t>(c)] + code)] = next;
      next += n_words_;
    }
    for (std::int64_t r = 0; r < n_records_; ++r)
      if (std::uint64_t* words = of[column[r]]) words[r / 64] |= std::uint64_t{1} << (r % 64);
  }
}

NetGroups::NetGroups(const NetData& data, int child, const std::vector<int>& parents)
    : data_(data), child_(child), and_popcount_(and_popcount()) {
  const std::int64_t n = data.n_records();
  if (n >= data.heavy()) {
    words_.assign(static_cast<std::size_t>(data.n_words()), 0);
    for (std::int64_t r = 0; r < n; r += 64)
      words_[static_cast<std::size_t>(r / 64)] =
          ~std::uint64_t{0} >> std::max<std::int64_t>(0, 64 - (n - r));
    groups_.push_back({0, 0, 0, n, true});
  } else {
    list_.resize(static_cast<std::size_t>(n));
    for (std::int64_t r = 0; r < n; ++r)
      list_[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(r);
    groups_.push_back({0, 0, 0, n, false});
  }
  const std::size_t k = parents.size();
  state_codes_.assign(k, 0);
  for (std::size_t p = 0; p < k; ++p) {
    split(parents[p]);
    // Each group is a state of its own now; it takes over the codes of what it was part of.
    std::vector<std::uint16_t> codes(groups_.size() * k);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      NetGroup& group = groups_[g];
      std::copy_n(state_codes_.begin() +
                      static_cast<std::ptrdiff_t>(static_cast<std::size_t>(group.state) * k),
                  p, codes.begin() + static_cast<std::ptrdiff_t>(g * k));
      codes[g * k + p] = static_cast<std::uint16_t>(group.code);
      group.state = static_cast<int>(g);
    }
    state_codes_ = std::move(codes);
  }
  n_states_ = static_cast<int>(groups_.size());
  too_large_ = 1.0 * n_states_ * data.arity(child) > kMostCells;
  if (too_large_) return;
  split(child);
  const auto arity = static_cast<std::size_t>(data.arity(child));
  counts_.assign(static_cast<std::size_t>(n_states_) * arity, 0.0);
  for (const NetGroup& group : groups_) {
    double sum = static_cast<double>(group.n);
    if (data.weights()) {
      sum = 0;
      for (std::int64_t k2 = 0; k2 < group.n; ++k2)
        sum += data.weights()[list_[static_cast<std::size_t>(group.begin + k2)]];
    }
    counts_[static_cast<std::size_t>(group.state) * arity + static_cast<std::size_t>(group.code)] =
        sum;
  }
}

void NetGroups::split(int column) {
  std::vector<NetGroup> parts;
  std::vector<std::uint64_t> words;
  std::vector<std::int32_t> list;
  for (const NetGroup& group : groups_)
    group.heavy ? split_heavy(group, column, parts, words, list)
                : split_light(group, column, parts, list);
  groups_ = std::move(parts);
  words_ = std::move(words);
  list_ = std::move(list);
}

void NetGroups::add_part(const std::uint64_t* bits, std::int64_t n, int state, int code,
                         std::vector<NetGroup>& parts, std::vector<std::uint64_t>& words,
                         std::vector<std::int32_t>& list) const {
  if (n == 0) return;
  if (n >= data_.heavy()) {
    parts.push_back({state, code, static_cast<std::int64_t>(words.size()), n, true});
    words.insert(words.end(), bits, bits + data_.n_words());
    return;
  }
  parts.push_back({state, code, static_cast<std::int64_t>(list.size()), n, false});
  for (std::int64_t w = 0; w < data_.n_words(); ++w)
    for (std::uint64_t rest = bits[w]; rest; rest &= rest - 1)
      list.push_back(static_cast<std::int32_t>(64 * w + std::countr_zero(rest)));
}

void NetGroups::split_heavy(const NetGroup& group, int column, std::vector<NetGroup>& parts,
                            std::vector<std::uint64_t>& words, std::vector<std::int32_t>& list) {
  const std::uint64_t* all = words_.data() + group.begin;
  const std::int64_t n_words = data_.n_words();
  std::vector<std::uint64_t> rest(all, all + n_words), part(rest.size());
  std::int64_t left = group.n;
  auto position = parts.size();  // of the most common code, which is known last
  for (int code = 0; code < data_.arity(column); ++code) {
    const std::uint64_t* with = data_.bitmap(column, code);
    if (!with) {
      position = parts.size();
      continue;
    }
    for (std::int64_t w = 0; w < n_words; ++w) {
      part[static_cast<std::size_t>(w)] = all[w] & with[w];
      rest[static_cast<std::size_t>(w)] &= ~with[w];
    }
    const std::int64_t n = and_popcount_(part.data(), part.data(), n_words);
    left -= n;
    if (code != data_.missing(column))
      add_part(part.data(), n, group.state, code, parts, words, list);
  }
  const int common = data_.common(column);
  if (common == data_.missing(column)) return;
  add_part(rest.data(), left, group.state, common, parts, words, list);
  std::rotate(parts.begin() + static_cast<std::ptrdiff_t>(position), parts.end() - (left > 0),
              parts.end());
}

void NetGroups::split_light(const NetGroup& group, int column, std::vector<NetGroup>& parts,
                            std::vector<std::int32_t>& list) {
  const std::uint16_t* codes = data_.codes(column);
  const std::int32_t* records = list_.data() + group.begin;
  const int missing = data_.missing(column);
  if (group.n * 4 < data_.arity(column)) {  // far fewer records than codes: sorted instead
    std::vector<std::pair<std::uint16_t, std::int32_t>> sorted;
    for (std::int64_t k = 0; k < group.n; ++k)
      if (codes[records[k]] != missing) sorted.emplace_back(codes[records[k]], records[k]);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      if (k == 0 || sorted[k].first != sorted[k - 1].first)
        parts.push_back(
            {group.state, sorted[k].first, static_cast<std::int64_t>(list.size()), 0, false});
      ++parts.back().n;
      list.push_back(sorted[k].second);
    }
    return;
  }
  std::vector<std::int64_t> position(static_cast<std::size_t>(data_.arity(column)), 0);
  for (std::int64_t k = 0; k < group.n; ++k) ++position[codes[records[k]]];
  if (missing >= 0) position[static_cast<std::size_t>(missing)] = 0;
  auto next = static_cast<std::int64_t>(list.size());
  for (std::size_t code = 0; code < position.size(); ++code) {
    const std::int64_t n = position[code];
    position[code] = next;
    if (n > 0) parts.push_back({group.state, static_cast<int>(code), next, n, false});
    next += n;
  }
  list.resize(static_cast<std::size_t>(next));
  for (std::int64_t k = 0; k < group.n; ++k) {
    const int code = codes[records[k]];
    if (code == missing) continue;
    list[static_cast<std::size_t>(position[static_cast<std::size_t>(code)]++)] = records[k];
  }
}

void NetGroups::count_with(int other, std::vector<double>& cells) const {
  const auto r = static_cast<std::size_t>(data_.arity(child_));
  const int s = data_.arity(other);
  const std::size_t block = r * static_cast<std::size_t>(s);
  cells.assign(static_cast<std::size_t>(n_states_) * block, 0.0);
  const std::uint16_t* codes = data_.codes(other);
  const double* weights = data_.weights();
  const int missing = data_.missing(other), common = data_.common(other);
  for (const NetGroup& group : groups_) {
    double* out = cells.data() + static_cast<std::size_t>(group.state) * block +
                  static_cast<std::size_t>(group.code);
    if (group.heavy) {
      std::int64_t left = group.n;
      for (int code = 0; code < s; ++code) {
        const std::uint64_t* with = data_.bitmap(other, code);
        if (!with) continue;
        const std::int64_t n = and_popcount_(words_.data() + group.begin, with, data_.n_words());
        left -= n;
        out[static_cast<std::size_t>(code) * r] = static_cast<double>(n);
      }
      out[static_cast<std::size_t>(common) * r] = static_cast<double>(left);
      if (missing >= 0) out[static_cast<std::size_t>(missing) * r] = 0;
      continue;
    }
    const std::int32_t* records = list_.data() + group.begin;
    for (std::int64_t k = 0; k < group.n; ++k) {
      const std::int32_t record = records[k];
      out[codes[record] * r] += weights ? weights[record] : 1.0;
    }
    if (missing >= 0) out[static_cast<std::size_t>(missing) * r] = 0;
  }
}

}  // namespace tacit
