#include "itemset/search.hpp"

#include <algorithm>
#include <bit>

namespace tacit {
namespace {

constexpr std::uint32_t kDropped = 0xffffffff;
// From which mean length of records on, in multiples of the least count, bitmaps of what is before
// a set pay (measured).
constexpr double kRich = 0.5;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

bool within(const std::uint64_t* some, const std::uint64_t* all, std::int64_t words) {
  for (std::int64_t k = 0; k < words; ++k)
    if ((some[k] & ~all[k]) != 0) return false;
  return true;
}

}  // namespace

void ItemsetSearch::branch(const Projection& root, std::int64_t rank,
                           const std::vector<std::uint32_t>& base,
                           const std::vector<std::uint32_t>& extra, Collector& out,
                           StopToken& token) {
  Meter meter(token);
  meter_ = &meter;
  out_ = &out;
  base_ = base;
  extra_ = extra;
  tallies_.resize(index(root.n_items()));
  renamed_.resize(index(root.n_items()), kDropped);
  counts_.resize(index(root.n_items()));
  if (root.traced) earlier_.begin(root);
  visit(root, rank, 0);
  out.close();
}

void ItemsetSearch::search(const Projection& node, std::size_t depth) {
  const std::int64_t last =
      kind_ == ItemsetKind::maximal && node.dense ? common_suffix(node) : node.n_items() - 1;
  for (std::int64_t rank = node.first_tail; rank <= last; ++rank) {
    visit(node, rank, depth);
    if (node.traced) earlier_.pass(node.items[index(rank)]);
  }
  if (node.traced)
    for (std::int64_t rank = node.first_tail; rank <= last; ++rank)
      earlier_.forget(node.items[index(rank)]);
}

// The set with the item of this rank, and all that extend it by items behind that.
void ItemsetSearch::visit(const Projection& parent, std::int64_t rank, std::size_t depth) {
  const std::int64_t total = parent.counts[index(rank)];
  if (total < limits_.min_count()) return;  // it may have been raised
  if (steps_.size() <= depth) {
    steps_.emplace_back();
    levels_.emplace_back();
  }
  Step& step = steps_[depth];
  if (!look(parent, rank, step)) return;
  const bool every = kind_ == ItemsetKind::all;
  const std::int64_t max_size = limits_.options.max_size;
  const auto size = static_cast<std::int64_t>(base_.size() + 1 + (every ? 0 : step.implied.size()));
  if (size > max_size) return;
  const std::size_t n_extra = extra_.size();
  step.pushed.push_back(push(parent.items[index(rank)]));
  for (const std::int64_t j : step.implied) {
    if (every)
      extra_.push_back(parent.items[index(j)]);
    else
      step.pushed.push_back(push(parent.items[index(j)]));
  }
  const bool reported =
      kind_ != ItemsetKind::maximal || (step.behind.empty() && step.before.empty() &&
                                        !(parent.dense && extensible_before(parent, rank)));
  if (reported) out_->add(base_, extra_, total);
  if (!step.behind.empty() && size < max_size) {
    if (every && step.behind.size() == 1) {  // nothing is left to be counted
      step.pushed.push_back(push(parent.items[index(step.behind.front().rank)]));
      out_->add(base_, extra_, step.behind.front().count);
    } else {
      Projection& child = levels_[depth];
      if (parent.dense)
        project_rows(parent, rank, step, child);
      else
        project_lists(parent, rank, step, child);
      search(child, depth + 1);
    }
  }
  take_back(step, n_extra);
}

std::size_t ItemsetSearch::push(std::uint32_t item) {
  const auto at = std::lower_bound(base_.begin(), base_.end(), item);
  const auto position = static_cast<std::size_t>(at - base_.begin());
  base_.insert(at, item);
  return position;
}

void ItemsetSearch::take_back(const Step& step, std::size_t n_extra) {
  extra_.resize(n_extra);
  for (auto at = step.pushed.rbegin(); at != step.pushed.rend(); ++at)
    base_.erase(base_.begin() + static_cast<std::ptrdiff_t>(*at));
}

bool ItemsetSearch::look(const Projection& parent, std::int64_t rank, Step& step) {
  step.before.clear();
  step.behind.clear();
  step.implied.clear();
  step.pushed.clear();
  if ((parent.dense || parent.traced) && found_before(parent, rank)) return false;
  if (!parent.dense) return look_at_lists(parent, rank, step);
  look_at_rows(parent, rank, step);
  return true;
}

// Items before this one need not be counted: most are told apart by a record, or a word of them.
bool ItemsetSearch::found_before(const Projection& parent, std::int64_t rank) {
  if (parent.traced) {
    const bool found = earlier_.in_all(parent, rank);
    meter_->spend(earlier_.spent());
    return found;
  }
  if (kind_ == ItemsetKind::all) return false;
  if (!parent.entire.empty() && !parent.entire[index(rank)]) return false;
  for (std::int64_t j = rank - 1; j >= 0; --j)
    if (within(parent.row(rank), parent.row(j), parent.words)) return true;
  return false;
}

bool ItemsetSearch::sort_in(std::int64_t j, std::int64_t rank, std::int64_t both,
                            std::int64_t total, Step& step) const {
  if (both < limits_.min_count() || j == rank) return true;
  if (j < rank) {
    if (both == total) return false;
    step.before.push_back({j, both});
  } else if (both == total) {
    step.implied.push_back(j);
  } else {
    step.behind.push_back({j, both});
  }
  return true;
}

void ItemsetSearch::look_at_rows(const Projection& parent, std::int64_t rank, Step& step) {
  const std::int64_t total = parent.counts[index(rank)];
  count(parent, rank, rank + 1, parent.n_items());
  for (std::int64_t j = rank + 1; j < parent.n_items(); ++j)
    sort_in(j, rank, counts_[index(j)], total, step);
}

// Maximal sets need the counts of items before this one: which of them are frequent with it.
bool ItemsetSearch::look_at_lists(const Projection& parent, std::int64_t rank, Step& step) {
  const bool before = kind_ == ItemsetKind::maximal;
  const std::uint32_t* flat = parent.flat.data();
  const std::int64_t from = parent.start[index(rank)], to = parent.start[index(rank + 1)];
  const auto each = [&](const auto& see) {
    for (std::int64_t k = from; k < to; ++k) {
      const std::uint32_t* const here = flat + parent.at[index(k)];
      for (const std::uint32_t* p = here + 1; *p != Projection::kEnd; ++p) see(*p, k);
      if (!before) continue;
      for (const std::uint32_t* p = here - 1; *p != Projection::kEnd; --p) see(*p, k);
    }
  };
  std::int64_t steps = to - from;
  each([&](std::uint32_t j, std::int64_t k) {
    tallies_[j] += parent.weighted ? parent.weight[index(k)] : 1;
    ++steps;
  });
  meter_->spend(steps);
  const std::int64_t first = before ? 0 : rank + 1, n = parent.n_items();
  const std::int64_t total = parent.counts[index(rank)];
  bool fresh = true;
  if (steps > (n - first) / 8) {
    for (std::int64_t j = first; j < n; ++j) {
      fresh = fresh && sort_in(j, rank, tallies_[index(j)], total, step);
      tallies_[index(j)] = 0;
    }
    return fresh;
  }
  // A few of very many items: they are looked up once more.
  seen_.clear();
  each([&](std::uint32_t j, std::int64_t) {
    if (tallies_[j] >= limits_.min_count()) seen_.push_back(j);
  });
  std::sort(seen_.begin(), seen_.end());
  seen_.erase(std::unique(seen_.begin(), seen_.end()), seen_.end());
  for (const std::int64_t j : seen_)
    fresh = fresh && sort_in(j, rank, tallies_[index(j)], total, step);
  each([&](std::uint32_t j, std::int64_t) { tallies_[j] = 0; });
  return fresh;
}

// counts_[j]: the records of an item that hold item j, for j in [first, end).
void ItemsetSearch::count(const Projection& parent, std::int64_t rank, std::int64_t first,
                          std::int64_t end) {
  const std::uint64_t* masks = parent.row(rank);
  if (parent.weighted) {
    masks_.resize(index(parent.n_planes * parent.words));
    for (std::int64_t p = 0; p < parent.n_planes; ++p)
      for (std::int64_t k = 0; k < parent.words; ++k)
        masks_[index(p * parent.words + k)] = masks[k] & parent.planes[index(p * parent.words + k)];
    masks = masks_.data();
  }
  meter_->spend((end - first) * parent.n_planes * (parent.words / 4 + 1) + 16);
  count_rows_(parent.matrix(), first, end, masks, parent.n_planes, counts_.data());
}

// Whether an item before this one is frequent among its records.
bool ItemsetSearch::extensible_before(const Projection& parent, std::int64_t rank) {
  constexpr std::int64_t kAtOnce = 8;
  for (std::int64_t end = rank; end > 0; end -= std::min(end, kAtOnce)) {
    const std::int64_t first = std::max<std::int64_t>(end - kAtOnce, 0);
    count(parent, rank, first, end);
    for (std::int64_t j = first; j < end; ++j)
      if (counts_[index(j)] >= limits_.min_count()) return true;
  }
  return false;
}

// The first item that, with all behind it, is frequent: what begins behind it is not maximal.
std::int64_t ItemsetSearch::common_suffix(const Projection& node) {
  std::int64_t last = node.n_items() - 1;
  common_.assign(node.row(last), node.row(last) + node.words);
  for (; last > node.first_tail; --last) {
    const std::uint64_t* row = node.row(last - 1);
    for (std::int64_t k = 0; k < node.words; ++k) common_[index(k)] &= row[k];
    std::int64_t both = 0;
    count_rows_({common_.data(), node.words}, 0, 1,
                node.weighted ? node.planes.data() : common_.data(),
                node.weighted ? node.n_planes : 1, &both);
    if (both < limits_.min_count()) break;
  }
  return last;
}

void ItemsetSearch::project_lists(const Projection& parent, std::int64_t rank, const Step& step,
                                  Projection& child) {
  child.items.clear();
  child.counts.clear();
  std::int64_t n_values = 0;
  const auto take = [&](const std::vector<Ranked>& some) {
    for (const auto& [j, both] : some) {
      renamed_[index(j)] = static_cast<std::uint32_t>(child.items.size());
      child.items.push_back(parent.items[index(j)]);
      child.counts.push_back(both);
      n_values += both;
    }
  };
  take(step.before);
  child.first_tail = child.n_items();
  take(step.behind);
  const bool before = !step.before.empty(), traced = parent.traced;
  child.traced = traced;
  child.origins.clear();
  child.lone.clear();
  child.first_lone.assign(traced ? child.items.size() : 0, Projection::kEnd);

  const std::uint32_t* flat = parent.flat.data();
  const std::int64_t from = parent.start[index(rank)], to = parent.start[index(rank + 1)];
  const auto begin_of = [&](std::int64_t k) {
    const std::uint32_t* p = flat + parent.at[index(k)];
    while (before && p[-1] != Projection::kEnd) --p;
    return p;
  };
  if (parent.weighted) {  // counts are sums of weights
    n_values = 0;
    for (std::int64_t k = from; k < to; ++k) {
      const std::uint32_t* const begin = begin_of(k);
      const std::uint32_t* p = begin;
      while (*p != Projection::kEnd) ++p;
      n_values += p - begin;
    }
  }
  const std::int64_t most = n_values + (to - from) + 2;
  meter_->spend(2 * most);
  std::uint32_t* const begin = child.flat.resize(index(most));
  std::uint32_t* out = begin;
  *out++ = Projection::kEnd;
  record_weights_.clear();
  std::int64_t n_records = 0, squares = 0;
  for (std::int64_t k = from; k < to; ++k) {
    std::uint32_t* const record = out;
    for (const std::uint32_t* p = begin_of(k); *p != Projection::kEnd; ++p) {
      *out = renamed_[*p];
      out += *out != kDropped;
    }
    const std::uint32_t origin = parent.origins.empty() ? static_cast<std::uint32_t>(k)
                                                        : parent.occurrence_origins[index(k)];
    if (out - record < 2) {  // nothing stands beside a single item
      if (traced && out > record) {
        std::uint32_t& first = child.first_lone[*record];
        child.lone.push_back({origin, first});
        first = static_cast<std::uint32_t>(child.lone.size()) - 1;
      }
      out = record;
      continue;
    }
    squares += (out - record) * (out - record);
    *out++ = Projection::kEnd;
    ++n_records;
    if (parent.weighted) record_weights_.push_back(parent.weight[index(k)]);
    if (traced) child.origins.push_back(origin);
  }
  for (const auto& ranked : step.before) renamed_[index(ranked.rank)] = kDropped;
  for (const auto& ranked : step.behind) renamed_[index(ranked.rank)] = kDropped;
  const Projection::Written written{out - begin, parent.weighted ? &record_weights_ : nullptr,
                                    n_records, squares};
  const bool as_rows = child.better_dense(written);
  // Where frequent pairs abound there is much to be searched.
  const auto rich =
      kRich * static_cast<double>(limits_.min_count()) * static_cast<double>(out - begin);
  if (traced && as_rows && static_cast<double>(squares) >= rich) {
    earlier_.lead(child, limits_.min_count());
    meter_->spend(earlier_.spent());
  } else {
    child.arrange(written, as_rows);
    if (as_rows && kind_ == ItemsetKind::maximal) child.find_entire();
  }
}

void ItemsetSearch::project_rows(const Projection& parent, std::int64_t rank, Step& step,
                                 Projection& child) {
  if (kind_ != ItemsetKind::all && !parent.traced) {
    count(parent, rank, 0, rank);
    for (std::int64_t j = 0; j < rank; ++j)
      if (counts_[index(j)] >= limits_.min_count()) step.before.push_back({j, counts_[index(j)]});
  }
  // The rarest first: they have the most behind them.
  std::stable_sort(step.behind.begin(), step.behind.end(),
                   [](const Ranked& a, const Ranked& b) { return a.count < b.count; });
  const std::uint64_t* mask = parent.row(rank);
  const std::int64_t n_mask =
      find_words_(mask, parent.words, mask_words_.resize(index(parent.words)));
  std::int64_t n_bits = 0;
  for (std::int64_t m = 0; m < n_mask; ++m) n_bits += mask_words_[index(m)].count;
  const std::int64_t fewer = (n_bits + 63) / 64;
  const bool shrink = 4 * fewer <= 3 * parent.words;
  child.words = shrink ? fewer : parent.words;
  child.dense = true;
  child.weighted = parent.weighted;
  child.n_planes = parent.n_planes;
  child.first_tail = static_cast<std::int64_t>(step.before.size());
  child.entire.clear();
  child.first_lone.clear();
  child.traced = parent.traced;
  if (parent.traced) {
    child.record_origins = parent.record_origins;
    if (shrink) shrink_origins(parent, n_mask, child);
  }
  child.items.clear();
  child.counts.clear();
  const std::size_t n = step.before.size() + step.behind.size();
  std::uint64_t* out = child.rows.resize(n * index(child.words));
  const auto write = [&](const std::uint64_t* row, std::uint64_t* to) {
    if (shrink) {
      compress_row_(row, mask_words_.data(), n_mask, to);
    } else {
      for (std::int64_t k = 0; k < child.words; ++k) to[k] = row[k] & mask[k];
    }
  };
  for (const auto* some : {&step.before, &step.behind})
    for (const auto& [j, both] : *some) {
      child.items.push_back(parent.items[index(j)]);
      child.counts.push_back(both);
      write(parent.row(j), out);
      out += child.words;
    }
  if (child.weighted) {
    std::uint64_t* planes = child.planes.resize(index(child.n_planes * child.words));
    for (std::int64_t p = 0; p < child.n_planes; ++p)
      write(parent.planes.data() + p * parent.words, planes + p * child.words);
  }
  meter_->spend(static_cast<std::int64_t>(n) * child.words);
}

void ItemsetSearch::shrink_origins(const Projection& parent, std::int64_t n_mask,
                                   Projection& child) {
  child.origins.clear();
  for (std::int64_t m = 0; m < n_mask; ++m) {
    const MaskWord& word = mask_words_[index(m)];
    const std::uint32_t* const from = parent.record_origins + word.at * 64;
    for (std::uint64_t bits = word.bits; bits != 0; bits &= bits - 1)
      child.origins.push_back(from[std::countr_zero(bits)]);
  }
  child.record_origins = child.origins.data();
  meter_->spend(static_cast<std::int64_t>(child.origins.size()));
}

}  // namespace tacit
