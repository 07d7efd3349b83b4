#include "engine/bitmaps.hpp"

#include <algorithm>
#include <bit>

#include "base/bits.hpp"
#include "engine/axes.hpp"

namespace tacit {
namespace {

// Below one record for this many words a list of the records is quicker than their bitmap.
constexpr std::int64_t kWordsForOne = 2;

// A set of more codes than this is made a bitmap of its own, which is not kept.
constexpr std::int64_t kManyCodes = 32;

template <class Count>
class Counting {
 public:
  Counting(const Bitmaps& bitmaps, const Tally<Count>& tally, std::vector<Axis> axes,
           Poller& poller)
      : bitmaps_(bitmaps),
        store_(bitmaps.store()),
        tally_(tally),
        axes_(std::move(axes)),
        poller_(poller),
        and_popcount_(and_popcount()) {
    const auto words = static_cast<std::size_t>(bitmaps.n_words());
    for (std::size_t k = 0; k <= axes_.size(); ++k) room_.emplace_back(words);
    full_ = Buffer<std::uint64_t>(words);
    std::fill(full_.begin(), full_.end(), 0);
    bitmaps.all_records(full_.data());
  }

  // Fills the block of axes k, k + 1, … for the records in `set`, of which there are n.
  void fill(std::size_t k, const std::uint64_t* set, std::int64_t n, Count* out) {
    if (k == axes_.size()) {
      *out = count(set, n);
      return;
    }
    const Axis& axis = axes_[k];
    if (n == 0) {
      std::fill_n(out, axis.cells(), Count{0});
      return;
    }
    if (n * kWordsForOne < bitmaps_.n_words() && !axis.given) {
      list(k, set, n, out, axis.cells());
      return;
    }
    if (++steps_ % 64 == 0) poller_.check();
    if (axis.given) {
      fill_given(k, set, out);
      return;
    }
    const std::int64_t common = bitmaps_.common(axis.column);
    Count* rest = out + common * axis.block;
    fill(k + 1, set, n, rest);
    for (std::int64_t code = 0; code < axis.arity; ++code) {
      if (code == common) continue;
      Count* part = out + code * axis.block;
      if (k + 1 == axes_.size() && sizeof(Count) < sizeof(Int128)) {
        *part = static_cast<Count>(
            and_popcount_(set, bitmaps_.bitmap(axis.column, code), bitmaps_.n_words()));
      } else {
        fill(k + 1, room_[k].data(), keep(axis, code, set, room_[k].data()), part);
      }
      for (std::int64_t x = 0; x < axis.block; ++x) rest[x] -= part[x];
    }
  }

  const std::uint64_t* all() const { return full_.data(); }

 private:
  // Axis k has a condition: a code at a time where it is asked for, else all codes in one set.
  void fill_given(std::size_t k, const std::uint64_t* set, Count* out) {
    const Axis& axis = axes_[k];
    std::uint64_t* room = room_[k].data();
    if (!axis.asked) {
      fill(k + 1, room, keep(axis, *axis.given, set, room), out);
      return;
    }
    for (std::int64_t code = 0; code < axis.arity; ++code) {
      Count* part = out + code * axis.block;
      if (axis.given->has(code))
        fill(k + 1, room, keep(axis, code, set, room), part);
      else
        std::fill_n(part, axis.block, Count{0});
    }
  }

  std::int64_t keep(const Axis& axis, std::int64_t code, const std::uint64_t* set,
                    std::uint64_t* result) {
    CodeSet one;
    one.add(code, code);
    return keep(axis, one, set, result);
  }

  // result = the records of `set` with one of some codes; returns how many. What is not the most
  // common value is put together; where that is among them, the others are taken away.
  std::int64_t keep(const Axis& axis, const CodeSet& codes, const std::uint64_t* set,
                    std::uint64_t* result) {
    const std::int64_t n_words = bitmaps_.n_words(), common = bitmaps_.common(axis.column);
    const bool without = codes.has(common);
    std::vector<const std::uint64_t*> used;
    std::int64_t n_used = 0;
    for (std::int64_t code = 0; code < axis.arity; ++code)
      n_used += code != common && codes.has(code) != without;
    if (n_used > kManyCodes) {
      bitmaps_.make(axis.column, codes, result);
      for (std::int64_t w = 0; w < n_words; ++w) result[w] &= set[w];
      return and_popcount_(result, result, n_words);
    }
    for (std::int64_t code = 0; code < axis.arity; ++code)
      if (code != common && codes.has(code) != without)
        used.push_back(bitmaps_.bitmap(axis.column, code));
    if (without) {
      std::copy_n(set, n_words, result);
      for (const std::uint64_t* other : used)
        for (std::int64_t w = 0; w < n_words; ++w) result[w] &= ~other[w];
    } else if (used.size() == 1) {
      for (std::int64_t w = 0; w < n_words; ++w) result[w] = set[w] & used[0][w];
    } else {
      std::fill_n(result, n_words, 0);
      for (const std::uint64_t* with : used)
        for (std::int64_t w = 0; w < n_words; ++w) result[w] |= with[w];
      for (std::int64_t w = 0; w < n_words; ++w) result[w] &= set[w];
    }
    return and_popcount_(result, result, n_words);
  }

  void records(const std::uint64_t* set, std::int64_t n) {
    records_.clear();
    records_.reserve(static_cast<std::size_t>(n));
    for (std::int64_t w = 0; w < bitmaps_.n_words(); ++w)
      for (std::uint64_t bits = set[w]; bits; bits &= bits - 1)
        records_.push_back(static_cast<std::int32_t>(64 * w + std::countr_zero(bits)));
  }

  Count count(const std::uint64_t* set, std::int64_t n) {
    if constexpr (sizeof(Count) == sizeof(Int128)) {
      records(set, n);
      Count sum = 0;
      for (const std::int32_t r : records_) sum += tally_.of(r);
      return sum;
    } else {
      (void)set;
      return static_cast<Count>(n);
    }
  }

  void list(std::size_t k, const std::uint64_t* set, std::int64_t n, Count* out,
            std::int64_t size) {
    records(set, n);
    for (std::size_t later = k; later < axes_.size(); ++later)  // conditions still to be met
      if (axes_[later].given)
        records_.resize(static_cast<std::size_t>(
            keep_codes(store_.column(axes_[later].column),
                       {records_.data(), static_cast<std::int64_t>(records_.size())},
                       *axes_[later].given, records_.data())));
    std::vector<std::int64_t> columns, strides;
    for (std::size_t later = k; later < axes_.size(); ++later) {
      if (!axes_[later].asked) continue;
      columns.push_back(axes_[later].column);
      strides.push_back(axes_[later].block);
    }
    std::fill_n(out, size, Count{0});
    tally_records(store_, {records_.data(), static_cast<std::int64_t>(records_.size())}, tally_,
                  columns, strides, out);
  }

  const Bitmaps& bitmaps_;
  const ColumnStore& store_;
  const Tally<Count>& tally_;
  std::vector<Axis> axes_;
  Poller& poller_;
  AndPopcount and_popcount_;
  std::vector<Buffer<std::uint64_t>> room_;  // the records of the path, one set for each axis
  Buffer<std::uint64_t> full_;
  std::vector<std::int32_t> records_;
  std::int64_t steps_ = 0;
};

}  // namespace

Bitmaps::Bitmaps(std::shared_ptr<const ColumnStore> store) : Engine(std::move(store)) {
  const std::int64_t words = (store_->n_records() + 63) / 64;
  n_words_ = (words + kPopcountWords - 1) / kPopcountWords * kPopcountWords;
  std::int64_t slots = 0;
  for (std::int64_t c = 0; c < store_->n_columns(); ++c) {
    common_.push_back(store_->common_code(c));
    first_.push_back(slots);
    slots += store_->arity(c);
  }
  words_.resize(static_cast<std::size_t>(slots));
  ready_.reset(new std::atomic<bool>[static_cast<std::size_t>(slots)]());
}

const std::uint64_t* Bitmaps::bitmap(std::int64_t column, std::int64_t code) const {
  const auto slot = static_cast<std::size_t>(first_[static_cast<std::size_t>(column)] + code);
  if (!ready_[slot].load(std::memory_order_acquire)) {
    const std::lock_guard lock(making_);
    if (!ready_[slot].load(std::memory_order_relaxed)) {
      Buffer<std::uint64_t> words(static_cast<std::size_t>(n_words_));
      CodeSet one;
      one.add(code, code);
      make(column, one, words.data());
      words_[slot] = std::move(words);
      bytes_ += n_words_ * static_cast<std::int64_t>(sizeof(std::uint64_t));
      ready_[slot].store(true, std::memory_order_release);
    }
  }
  return words_[slot].data();
}

void Bitmaps::make(std::int64_t c, const CodeSet& codes, std::uint64_t* words) const {
  const Column& column = store_->peek(c);
  const bool rest = codes.has(column.default_code);
  std::fill_n(words, n_words_, 0);
  if (rest) all_records(words);
  for (std::int64_t v = 0; v < column.n_values(); ++v) {
    if (codes.has(column.code_of(v)) == rest) continue;
    for (const std::int32_t* r = column.begin(v); r != column.begin(v + 1); ++r)
      words[*r / 64] ^= std::uint64_t{1} << (*r % 64);
  }
}

void Bitmaps::all_records(std::uint64_t* words) const {
  const std::int64_t m = store_->n_records();
  std::fill_n(words, m / 64, ~std::uint64_t{0});
  if (m % 64) words[m / 64] = ~std::uint64_t{0} >> (64 - m % 64);
}

void Bitmaps::dense(const Question& question, Result out, Poll poll) {
  // Columns of few values first: the last one needs no set of its own, only counts. Conditions
  // before all others, since they leave less to do.
  const auto is_given = [&](std::int64_t column) {
    return std::any_of(question.given.begin(), question.given.end(),
                       [&](const Condition& condition) { return condition.column == column; });
  };
  const auto axes = order_axes(*store_, question, [&](std::int64_t a, std::int64_t b) {
    const bool given_a = is_given(a), given_b = is_given(b);
    if (given_a != given_b) return given_a;
    return std::pair(store_->arity(a), a) < std::pair(store_->arity(b), b);
  });
  with_tally(*store_, [&](const auto& tally) {
    using Count = decltype(tally.of(0));
    std::vector<Count> cells(static_cast<std::size_t>(count_cells(*store_, question.columns)));
    Poller poller(poll);
    Counting<Count> counting(*this, tally, axes, poller);
    counting.fill(0, counting.all(), store_->n_records(), cells.data());
    write_cells(tally, axes, cells.data(), out);
  });
}

SparseCells Bitmaps::sparse(const Question& question, Poll) {
  // Tables of very many cells hold few records each: their list is what bitmaps would come down to.
  std::vector<std::int32_t> room;
  const Some some = matching(*store_, question.given, room);
  return with_tally(*store_, [&](const auto& tally) {
    std::vector<Entry<decltype(tally.of(0))>> entries;
    tally_records(*store_, some, tally, question.columns, c_strides(*store_, question.columns),
                  entries);
    return to_cells(tally, entries);
  });
}

}  // namespace tacit
