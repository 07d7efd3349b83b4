#include "tree/search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tacit {

template <class T>
void SplitSearch<T>::find_runs(const CountedLeaf<T>& leaf) {
  runs_.clear();
  for (std::int64_t i = 0; i < leaf.n;) {
    const std::int32_t column = columns_.column_of[static_cast<std::size_t>(leaf.id(i))];
    const std::int64_t past = columns_.offsets[column + 1];
    std::int64_t end = i + 1;
    if (!leaf.ids)
      end = past;
    else
      while (end < leaf.n && leaf.ids[end] < past) ++end;
    if (columns_.arity(column) > 2 && !columns_.is_ordered(column))
      rests_.push_back(static_cast<std::int64_t>(runs_.size()));
    runs_.push_back({column, i, end});
    i = end;
  }
  n_candidates_ += static_cast<std::int64_t>(rests_.size());
  for (const Run& run : runs_) {
    if (!has_thresholds(run.column) || !columns_.has_missing(run.column)) continue;
    const std::int64_t weight = missing_weight(leaf, run);
    if (weight == 0) continue;
    missing_runs_.push_back({run, n_candidates_, weight});
    n_candidates_ += run.end - run.begin;
  }
}

// The weight of the leaf's records that have no value in the run's column.
template <class T>
std::int64_t SplitSearch<T>::missing_weight(const CountedLeaf<T>& leaf, const Run& run) const {
  const std::int64_t missing = columns_.arity(run.column) - 1;
  if (columns_.defaults[run.column] == missing)
    return std::accumulate(leaf.histograms + run.begin, leaf.histograms + run.end, leaf.whole[0],
                           [](std::int64_t rest, T count) { return rest - count; });
  const bool held = columns_.code(run.column, leaf.id(run.end - 1)) == missing;
  return held ? static_cast<std::int64_t>(leaf.histograms[run.end - 1]) : 0;
}

template <class T>
std::int64_t SplitSearch<T>::first_above_default(const CountedLeaf<T>& leaf, const Run& run) const {
  const std::int64_t bound = columns_.offsets[run.column] + columns_.defaults[run.column];
  std::int64_t i = run.begin;
  while (i < run.end && leaf.id(i) < bound) ++i;
  return i;
}

// The fraction of the leaf's region that goes inside, for each candidate: first one for each id, then
// the rests. That of a threshold is as describe_threshold will have it. Candidates without records
// on a side are none, and keep a half.
template <class T>
void SplitSearch<T>::find_fractions(const CountedLeaf<T>& leaf) {
  region_.read(conditions_, *leaf.region);
  fractions_.assign(static_cast<std::size_t>(whole_vectors(n_candidates_)), 0.5);
  auto next_rest = fractions_.begin() + leaf.n;
  auto next_missing = missing_runs_.cbegin();
  for (const Run& run : runs_) {
    const CodeFractions& codes = region_.of(run.column);
    const std::int64_t usual = columns_.defaults[run.column];
    const auto code = [&](std::int64_t i) { return columns_.code(run.column, leaf.id(i)); };
    if (has_thresholds(run.column)) {
      const bool some_missing =
          next_missing != missing_runs_.end() && next_missing->run.column == run.column;
      const std::int64_t turned = some_missing ? (next_missing++)->first - run.begin : 0;
      const std::int64_t middle = first_above_default(leaf, run), last = codes.arity - 1;
      // The last code on the lower side, and what is there; what has the default.
      std::int64_t below = -1, lower_weight = 0, rest = leaf.whole[0];
      for (std::int64_t i = run.begin; i < run.end; ++i) rest -= leaf.histograms[i];
      const auto pass = [&](std::int64_t passed, std::int64_t weight) {
        if (weight > 0) below = passed;
        lower_weight += weight;
      };
      for (std::int64_t i = run.begin; i < run.end; ++i) {
        if (i == middle) pass(usual, rest);
        if (i < middle) pass(code(i), leaf.histograms[i]);
        if (below >= 0) {
          const double lower = codes.up_to(below);
          const bool joins = !some_missing && missing_joins(leaf, run.column, lower_weight);
          const double inside = joins ? lower + codes.of(last) : lower;
          fractions_[static_cast<std::size_t>(i)] = i < middle ? inside : 1.0 - inside;
          if (some_missing) {
            const double with_missing = lower + codes.of(last);
            fractions_[static_cast<std::size_t>(turned + i)] =
                i < middle && usual != last ? with_missing : 1.0 - with_missing;
          }
        }
        if (i >= middle) pass(code(i), leaf.histograms[i]);
      }
      continue;
    }
    for (std::int64_t i = run.begin; i < run.end; ++i)
      if (leaf.histograms[i] > 0) fractions_[static_cast<std::size_t>(i)] = codes.of(code(i));
    if (columns_.arity(run.column) > 2) *next_rest++ = 1.0 - codes.of(usual);
  }
}

// Whether missing values would go below a threshold that was found without any: to the side of
// most records.
template <class T>
bool SplitSearch<T>::missing_joins(const CountedLeaf<T>& leaf, std::int64_t column,
                                   std::int64_t lower_weight) const {
  return columns_.has_missing(column) && 2 * lower_weight > leaf.whole[0];
}

// Lays out what goes inside for each candidate: first one for each id, then the rests, then
// thresholds with missing values below. Below the default a threshold's inside are all lower codes
// too, above it all higher ones.
template <class T>
void SplitSearch<T>::gather_sides(const CountedLeaf<T>& leaf) {
  const std::int64_t stride = whole_vectors(n_candidates_);
  const std::int64_t n_histograms = leaf.entry_start ? 1 : score_.n_stats();
  sides_.assign(static_cast<std::size_t>(stride * n_histograms), T{0});
  for (std::int64_t p = 0; p < n_histograms; ++p) {
    const T* from = leaf.histograms + p * leaf.stride;
    T* to = sides_.data() + p * stride;
    std::copy(from, from + leaf.n, to);
    for (const Run& run : runs_) {
      if (!has_thresholds(run.column)) continue;
      const std::int64_t middle = first_above_default(leaf, run);
      for (std::int64_t i = run.begin + 1; i < middle; ++i) to[i] += to[i - 1];
      for (std::int64_t i = run.end - 2; i >= middle; --i) to[i] += to[i + 1];
    }
    for (std::size_t e = 0; e < rests_.size(); ++e) {
      const Run& run = runs_[static_cast<std::size_t>(rests_[e])];
      T sum{0};
      for (std::int64_t i = run.begin; i < run.end; ++i) sum += from[i];
      to[leaf.n + static_cast<std::int64_t>(e)] = sum;
    }
  }
  for (const MissingRun& missing : missing_runs_) gather_missing(leaf, missing, stride);
}

// What goes inside where missing values are below the thresholds of a run, from what goes inside
// where they are above: less or more by them, or the other known values where they are the default.
template <class T>
void SplitSearch<T>::gather_missing(const CountedLeaf<T>& leaf, const MissingRun& missing,
                                    std::int64_t stride) {
  const auto& [run, first, lacking] = missing;
  const bool is_default = columns_.defaults[run.column] == columns_.arity(run.column) - 1;
  const std::int64_t middle = first_above_default(leaf, run), turned = first - run.begin;
  const std::int64_t n_histograms = leaf.entry_start ? 1 : score_.n_stats();
  for (std::int64_t p = 0; p < n_histograms; ++p) {
    T* to = sides_.data() + p * stride;
    const T* from = leaf.histograms + p * leaf.stride;
    T rest = from[run.end - 1];
    if (is_default) rest = std::accumulate(from + run.begin, from + run.end, T{0});
    for (std::int64_t i = run.begin; i < run.end; ++i)
      to[turned + i] = is_default ? rest - to[i] : i < middle ? to[i] + rest : to[i] - rest;
  }
  // Missing values against all others are not told twice.
  const std::int64_t known = leaf.whole[0] - lacking;
  for (std::int64_t i = run.begin; i < run.end; ++i) {
    const std::int64_t side = sides_[static_cast<std::size_t>(turned + i)];
    const bool is_lower = i < middle && !is_default;
    if ((is_lower ? side - lacking : known - side) > 0) continue;
    for (std::int64_t p = 0; p < n_histograms; ++p)
      sides_[static_cast<std::size_t>(p * stride + turned + i)] = T{0};
  }
}

// With very many classes a candidate costs as much as the classes that occur inside: sums over all
// classes are corrected where a class has changed sides.
template <class T>
void SplitSearch<T>::find_entry_gains(const CountedLeaf<T>& leaf) {
  const auto n_stats = static_cast<std::size_t>(score_.n_stats());
  const double scale = score_.scale();
  const double before = score_.leaf(leaf.whole, leaf.prior_fraction) + prices_.least();
  std::vector<std::int64_t> inside(n_stats, 0);  // [0] is the default class here
  std::vector<std::int32_t> touched;
  std::int64_t base = leaf.whole[0];
  for (std::size_t p = 1; p < n_stats; ++p) base -= leaf.whole[p];
  const auto of_leaf = [&](std::size_t p) { return p ? leaf.whole[p] : base; };

  double part = 0.5, sum_in = 0.0, sum_out = 0.0;
  std::int64_t weight = 0;
  const auto term_in = [&](std::int64_t c) {
    return score_.term(static_cast<double>(c) * scale, leaf.prior_fraction * part);
  };
  const auto term_out = [&](std::int64_t c) {
    return score_.term(static_cast<double>(c) * scale, leaf.prior_fraction * (1.0 - part));
  };
  double known_part = -1.0, whole_out = 0.0;
  // Under BDeu all terms change with the fraction of the prior that goes inside.
  const auto set_part = [&](std::int64_t candidate) {
    part = score_.bdeu() ? fractions_[static_cast<std::size_t>(candidate)] : 0.5;
    if (part == known_part) return;
    known_part = part;
    whole_out = 0.0;
    for (std::size_t p = 0; p < n_stats; ++p) whole_out += term_out(of_leaf(p));
    sum_in = 0.0;
    sum_out = whole_out;
    for (const std::int32_t p : touched) {
      const auto at = static_cast<std::size_t>(p);
      sum_in += term_in(inside[at]);
      sum_out += term_out(of_leaf(at) - inside[at]) - term_out(of_leaf(at));
    }
  };
  const auto restart = [&] {
    for (const std::int32_t p : touched) inside[static_cast<std::size_t>(p)] = 0;
    touched.clear();
    sum_in = 0.0;
    sum_out = whole_out;
    weight = 0;
  };
  const auto add = [&](std::size_t p, std::int64_t count) {
    if (count == 0) return;
    std::int64_t& sum = inside[p];
    if (sum == 0) touched.push_back(static_cast<std::int32_t>(p));
    sum_in += term_in(sum + count) - (sum ? term_in(sum) : 0.0);
    sum_out += term_out(of_leaf(p) - sum - count) - term_out(of_leaf(p) - sum);
    sum += count;
  };
  const auto add_id = [&](std::int64_t i) {
    std::int64_t rest = leaf.histograms[i];
    weight += rest;
    for (std::int64_t e = leaf.entry_start[i]; e < leaf.entry_start[i + 1]; ++e) {
      add(static_cast<std::size_t>(leaf.entry_class[e]), leaf.entry_count[e]);
      rest -= leaf.entry_count[e];
    }
    add(0, rest);
  };
  const auto gain = [&] {
    if (weight < score_.min_leaf() || leaf.whole[0] - weight < score_.min_leaf()) return kNoGain;
    const double scaled = static_cast<double>(weight) * scale;
    const double other = static_cast<double>(leaf.whole[0] - weight) * scale;
    return score_.close(sum_in, scaled, leaf.prior_fraction * part) +
           score_.close(sum_out, other, leaf.prior_fraction * (1.0 - part)) - before +
           score_.per_leaf();
  };

  gains_.assign(static_cast<std::size_t>(n_candidates_), kNoGain);
  std::size_t e = 0;
  for (std::size_t k = 0; k < runs_.size(); ++k) {
    const Run& run = runs_[k];
    if (has_thresholds(run.column)) {
      const std::int64_t middle = first_above_default(leaf, run);
      restart();
      for (std::int64_t i = run.begin; i < middle; ++i) {
        set_part(i);
        add_id(i);
        gains_[static_cast<std::size_t>(i)] = gain();
      }
      restart();
      for (std::int64_t i = run.end - 1; i >= middle; --i) {
        set_part(i);
        add_id(i);
        gains_[static_cast<std::size_t>(i)] = gain();
      }
      continue;
    }
    for (std::int64_t i = run.begin; i < run.end; ++i) {
      restart();
      set_part(i);
      add_id(i);
      gains_[static_cast<std::size_t>(i)] = gain();
    }
    if (e < rests_.size() && rests_[e] == static_cast<std::int64_t>(k)) {
      restart();
      set_part(leaf.n + static_cast<std::int64_t>(e));
      for (std::int64_t i = run.begin; i < run.end; ++i) add_id(i);
      gains_[static_cast<std::size_t>(leaf.n) + e++] = gain();
    }
  }
  for (const auto& [run, first, lacking] : missing_runs_) {
    const std::int64_t turned = first - run.begin, known = leaf.whole[0] - lacking;
    const std::int64_t middle = first_above_default(leaf, run);
    const auto note = [&](std::int64_t i, std::int64_t lower) {
      if (lower > 0) gains_[static_cast<std::size_t>(turned + i)] = gain();
    };
    restart();
    if (columns_.defaults[run.column] == columns_.arity(run.column) - 1) {
      for (std::int64_t i = run.end - 1; i >= run.begin; --i) {
        set_part(turned + i);
        note(i, known - weight);
        add_id(i);
      }
      continue;
    }
    add_id(run.end - 1);
    for (std::int64_t i = run.begin; i < middle; ++i) {
      set_part(turned + i);
      add_id(i);
      note(i, weight - lacking);
    }
    restart();
    for (std::int64_t i = run.end - 2; i >= middle; --i) {
      set_part(turned + i);
      add_id(i);
      note(i, known - weight);
    }
  }
}

template <class T>
bool SplitSearch<T>::is_excluded(std::int32_t column) const {
  return std::find(excluded_.begin(), excluded_.end(), column) != excluded_.end();
}

template <class T>
void SplitSearch<T>::exclude(const CountedLeaf<T>& leaf) {
  for (const std::int64_t column : excluded_) {
    std::int64_t begin = columns_.offsets[column], end = columns_.offsets[column + 1];
    if (leaf.ids) {
      begin = std::lower_bound(leaf.ids, leaf.ids + leaf.n, begin) - leaf.ids;
      end = std::lower_bound(leaf.ids, leaf.ids + leaf.n, end) - leaf.ids;
    }
    std::fill(gains_.begin() + begin, gains_.begin() + end, kNoGain);
  }
  for (std::size_t e = 0; e < rests_.size(); ++e)
    if (is_excluded(runs_[static_cast<std::size_t>(rests_[e])].column))
      gains_[static_cast<std::size_t>(leaf.n) + e] = kNoGain;
  for (const MissingRun& missing : missing_runs_)
    if (is_excluded(missing.run.column)) std::ranges::fill(gains_of(missing), kNoGain);
}

// A complete split of two codes is the binary one, which therefore stays.
template <class T>
void SplitSearch<T>::drop_binary(const CountedLeaf<T>& leaf) {
  for (const Run& run : runs_)
    if (columns_.arity(run.column) > 2 && !columns_.is_number(run.column))
      std::fill(gains_.begin() + run.begin, gains_.begin() + run.end, kNoGain);
  std::fill_n(gains_.begin() + leaf.n, rests_.size(), kNoGain);
  for (const MissingRun& missing : missing_runs_)
    if (!columns_.is_number(missing.run.column)) std::ranges::fill(gains_of(missing), kNoGain);
}

template <class T>
double SplitSearch<T>::complete_gain(const CountedLeaf<T>& leaf, const Run& run) {
  const std::int64_t arity = columns_.arity(run.column);
  const CodeFractions* codes = leaf.region ? &region_.of(run.column) : nullptr;
  const auto n_stats = static_cast<std::size_t>(score_.n_stats());
  std::vector<std::int64_t> rest(leaf.whole, leaf.whole + n_stats), child(n_stats);
  double gain = static_cast<double>(arity - 1) * score_.per_leaf() - prices_.of(run.column) -
                score_.leaf(leaf.whole, leaf.prior_fraction);
  std::int64_t n_filled = 0;
  const auto add = [&](const std::vector<std::int64_t>& histograms, std::int64_t code) {
    if (histograms[0] == 0) return true;
    ++n_filled;
    gain += score_.leaf(histograms.data(), codes ? leaf.prior_fraction * codes->of(code) : 1.0);
    return histograms[0] >= score_.min_leaf();
  };
  for (std::int64_t i = run.begin; i < run.end; ++i) {
    std::fill(child.begin(), child.end(), 0);
    child[0] = leaf.histograms[i];
    if (leaf.entry_start)
      for (std::int64_t e = leaf.entry_start[i]; e < leaf.entry_start[i + 1]; ++e)
        child[static_cast<std::size_t>(leaf.entry_class[e])] = leaf.entry_count[e];
    else
      for (std::size_t p = 1; p < n_stats; ++p)
        child[p] = leaf.histograms[static_cast<std::int64_t>(p) * leaf.stride + i];
    for (std::size_t p = 0; p < n_stats; ++p) rest[p] -= child[p];
    if (!add(child, columns_.code(run.column, leaf.id(i)))) return kNoGain;
  }
  return add(rest, columns_.defaults[run.column]) && n_filled > 1 ? gain : kNoGain;
}

template <class T>
void SplitSearch<T>::find_complete(const CountedLeaf<T>& leaf) {
  complete_choices_.clear();
  if (!rules_.complete) return;
  for (std::size_t k = 0; k < runs_.size(); ++k) {
    const Run& run = runs_[k];
    if (columns_.arity(run.column) <= 2 || is_excluded(run.column)) continue;
    if (columns_.is_number(run.column)) continue;
    complete_choices_.push_back(
        {complete_gain(leaf, run), run.column, kComplete, static_cast<std::int64_t>(k)});
  }
}

template <class T>
TreeSplit SplitSearch<T>::best(const CountedLeaf<T>& leaf) {
  // Of two codes each has half of a single way, or none of its records.
  const bool halves = !leaf.region || leaf.region->size() == 1;
  const bool two_codes = columns_.all_binary && !leaf.entry_start && halves;
  is_some_ = prices_.by_leaf() && two_codes && score_.n_stats() == 2;
  const bool plain = two_codes && (is_some_ || !prices_.by_leaf());
  rests_.clear();
  missing_runs_.clear();
  n_candidates_ = leaf.n;
  if (is_some_) find_able(leaf);
  n_listed_ = n_candidates_;
  if (!plain) find_runs(leaf);
  if (!plain && leaf.region) find_fractions(leaf);
  if (!plain && (prices_.by_leaf() || !leaf.entry_start)) gather_sides(leaf);
  if (!plain && prices_.by_leaf()) find_prices(leaf);
  if (leaf.entry_start) {
    find_entry_gains(leaf);
  } else {
    SplitJob<T> job{&score_,    leaf.histograms,     leaf.stride, n_candidates_,
                    leaf.whole, leaf.prior_fraction, nullptr,     prices_.least()};
    if (!plain || is_some_) {
      job.inside = sides_.data();
      job.stride = whole_vectors(job.n);
      job.fractions = score_.bdeu() && !plain ? fractions_.data() : nullptr;
    }
    gains_.resize(static_cast<std::size_t>(whole_vectors(job.n)));
    job.evaluate(gains_.data());
  }
  if (!is_some_) {
    pay(leaf);
    exclude(leaf);
  }
  complete_choices_.clear();
  if (!plain) find_complete(leaf);
  if (!plain && !rules_.binary) drop_binary(leaf);

  double most = kNoGain;
  for (std::int64_t i = 0; i < n_candidates_; ++i)
    most = std::max(most, gains_[static_cast<std::size_t>(i)]);
  for (const Choice& choice : complete_choices_) most = std::max(most, choice.gain);
  if (!(most > kNoGain)) return {};

  // The first of all that are as good as the best: rounding decides nothing.
  const double enough = most - 1e-9 * std::max(1.0, std::fabs(most));
  Choice first{most};
  const auto consider = [&](const Choice& choice) {
    if (choice.gain < enough) return;
    if (first.column < 0 || choice.column < first.column ||
        (choice.column == first.column && choice.kind < first.kind))
      first = choice;
  };
  for (std::int64_t k = 0; k < n_listed_; ++k)
    if (gains_[static_cast<std::size_t>(k)] >= enough) {
      const std::int64_t i = position(k);
      consider({gains_[static_cast<std::size_t>(k)],
                columns_.column_of[static_cast<std::size_t>(leaf.id(i))], kValue, i});
      break;
    }
  for (std::size_t e = 0; e < rests_.size(); ++e)
    consider({gains_[static_cast<std::size_t>(leaf.n) + e],
              runs_[static_cast<std::size_t>(rests_[e])].column, kDefault, 0});
  for (const auto& [run, first_id, weight] : missing_runs_)
    for (std::int64_t i = run.begin; i < run.end; ++i)
      consider({gains_[static_cast<std::size_t>(first_id - run.begin + i)], run.column,
                kMissingBelow, i});
  for (const Choice& choice : complete_choices_) consider(choice);
  return describe(leaf, first);
}

template <class T>
TreeSplit SplitSearch<T>::describe(const CountedLeaf<T>& leaf, const Choice& choice) const {
  TreeSplit split;
  split.gain = choice.gain;
  split.column = choice.column;
  split.low = static_cast<std::int32_t>(columns_.offsets[choice.column]);
  split.high = static_cast<std::int32_t>(columns_.offsets[choice.column + 1]);
  split.complete = choice.kind == kComplete;
  if (choice.kind > kMissingBelow) return split;
  if (columns_.is_ordered(choice.column)) {
    describe_threshold(leaf, choice, split);
  } else {
    split.low = static_cast<std::int32_t>(leaf.id(choice.position));
    split.high = split.low + 1;
  }
  return split;
}

// Thresholds lie right above the last code that occurs on the lower side, however the counts came.
template <class T>
void SplitSearch<T>::describe_threshold(const CountedLeaf<T>& leaf, const Choice& choice,
                                        TreeSplit& split) const {
  const std::int64_t column = split.column, usual = columns_.defaults[column];
  const std::int64_t code = columns_.code(column, leaf.id(choice.position));
  const std::int64_t bound = code < usual ? code : code - 1;  // the highest code below
  const std::int64_t missing = columns_.has_missing(column) ? columns_.arity(column) - 1 : -1;
  const auto in_column = [&](std::int64_t i) {
    return i >= 0 && i < leaf.n &&
           columns_.column_of[static_cast<std::size_t>(leaf.id(i))] == column;
  };
  std::int64_t begin = choice.position, end = begin + 1, left = -1, right = columns_.arity(column);
  while (in_column(begin - 1)) --begin;
  while (in_column(end)) ++end;
  std::int64_t rest = leaf.whole[0], lower_weight = 0, lacking = 0;
  const auto note = [&](std::int64_t known, std::int64_t weight) {
    if (weight == 0) return;
    if (known == missing) lacking = weight;
    if (known <= bound) {
      left = std::max(left, known);
      lower_weight += weight;
    } else if (known != missing || choice.kind != kMissingBelow) {
      right = std::min(right, known);
    }
  };
  for (std::int64_t i = begin; i < end; ++i) {
    note(columns_.code(column, leaf.id(i)), leaf.histograms[i]);
    rest -= leaf.histograms[i];
  }
  note(usual, rest);
  split.left = static_cast<std::int32_t>(left);
  split.right = static_cast<std::int32_t>(right);
  const auto cut = static_cast<std::int32_t>(columns_.id_from(column, left + 1));
  const bool missing_below =
      choice.kind == kMissingBelow || (lacking == 0 && missing_joins(leaf, column, lower_weight));
  if (usual <= left || (missing_below && usual == missing)) {
    split.low = cut;
    if (missing_below && usual != missing) --split.high;
  } else {
    if (missing_below) split.also = split.high - 1;
    split.high = cut;
  }
}

template class SplitSearch<std::int32_t>;
template class SplitSearch<std::int64_t>;

}  // namespace tacit
