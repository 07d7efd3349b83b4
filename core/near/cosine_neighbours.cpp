#include "near/cosine_neighbours.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/simd.hpp"

namespace tacit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kSeeds = 64;  // rows measured first, so that there is something to beat
constexpr std::int64_t kVerify = 8;  // entries that cost as much as a number of a candidate
constexpr std::int64_t kFew = 256;   // entries up to which they are gone through once more

TACIT_INLINE std::int64_t find_some(const float* sums, std::int64_t n, float least,
                                    std::int32_t* out) {
  std::int64_t found = 0;
  const Float8 limit = Float8{} + least;
  for (std::int64_t i = 0; i < n; i += 8) {
    const Bits4 mask = reinterpret_cast<Bits4>(vector_at(sums + i) >= limit);
    if (!(mask[0] | mask[1] | mask[2] | mask[3])) continue;
    for (std::int64_t j = i; j < i + 8; ++j)
      if (sums[j] >= least) out[found++] = static_cast<std::int32_t>(j);
  }
  return found;
}

std::int64_t find_at_least(const float* sums, std::int64_t n, float least, std::int32_t* out) {
  static const auto find = avx2_or_plain<find_some>();
  return find(sums, n, least, out);
}

float round_down(double x) {
  return std::nextafter(static_cast<float>(x), -std::numeric_limits<float>::infinity());
}

}  // namespace

class CosineWalk {
 public:
  CosineWalk(const CosineIndex& index, StopToken& token)
      : index_(index),
        lists_(index.lists_),
        dense_(static_cast<std::size_t>(lists_.n_columns()), 0.0),
        marks_(dense_.size(), 0),
        meter_(token) {
    const auto& blocks = lists_.blocks();
    const std::int64_t widest = blocks.empty() ? 0 : blocks[0].end - blocks[0].begin;
    sums_.assign(static_cast<std::size_t>(widest + 32), 0.0F);
    touched_.assign(sums_.size(), 0);
    candidates_.resize(sums_.size());
  }

  // Offers every row that may be wanted: those before `end`, without the row `itself`.
  template <class Wanted>
  void run(const SparseVectors& queries, std::int64_t q, std::int64_t itself, std::int64_t end,
           Wanted& wanted) {
    itself_ = itself, end_ = end, length_ = queries.lengths[q];
    const std::int64_t begin = queries.pattern.indptr[q], stop = queries.pattern.indptr[q + 1];
    for (std::int64_t e = begin; e < stop; ++e) {
      const auto column = static_cast<std::size_t>(queries.pattern.columns[e]);
      dense_[column] = queries.numbers[e];
      marks_[column] = 1;
    }
    list_parts(queries, begin, stop);
    seed(wanted);
    for (std::size_t b = 0; b < lists_.blocks().size(); ++b)
      if (lists_.blocks()[b].begin < end_) visit(static_cast<std::int64_t>(b), wanted);
    add_strangers(wanted);
    for (std::int64_t e = begin; e < stop; ++e) {
      const auto column = static_cast<std::size_t>(queries.pattern.columns[e]);
      dense_[column] = 0;
      marks_[column] = 0;
    }
  }

 private:
  struct Part {
    std::int32_t rank;
    float weight;
    double rest;  // what this and all that follow can add at most
  };
  struct Candidate {
    float sum;
    std::int32_t row;
  };

  void list_parts(const SparseVectors& queries, std::int64_t begin, std::int64_t stop) {
    parts_.clear();
    for (std::int64_t e = begin; e < stop; ++e) {
      const std::int32_t rank = lists_.rank(queries.pattern.columns[e]);
      if (lists_.length(rank) > 0)
        parts_.push_back({rank, static_cast<float>(queries.numbers[e] / length_), 0});
    }
    std::sort(parts_.begin(), parts_.end(),
              [](const Part& a, const Part& b) { return a.rank > b.rank; });
    double squares = 0, sum = 0;
    for (std::size_t i = parts_.size(); i-- > 0;) {
      const auto weight = static_cast<double>(parts_[i].weight);
      squares += weight * weight;
      sum += std::abs(weight) *
             static_cast<double>(index_.largest_[static_cast<std::size_t>(parts_[i].rank)]);
      parts_[i].rest = std::min(std::sqrt(squares), sum) * (1 + 1e-6);
    }
    // Sums are of products of numbers that were rounded thrice: each is off by less than 2^-22, and
    // so, by Cauchy and Schwarz, is their sum but for its own roundings.
    margin_ = 0x1p-24 * (static_cast<double>(parts_.size()) + 16);
  }

  double cosine(std::int64_t r) const {
    const SparsePattern& rows = index_.rows_.pattern;
    const std::int64_t row = lists_.row(r);
    double sum = 0;
    for (std::int64_t e = rows.indptr[row]; e < rows.indptr[row + 1]; ++e)
      sum += index_.rows_.numbers[e] * dense_[static_cast<std::size_t>(rows.columns[e])];
    return sum / (length_ * index_.rows_.lengths[row]);
  }

  bool shares(std::int64_t row) const {
    const SparsePattern& rows = index_.rows_.pattern;
    for (std::int64_t e = rows.indptr[row]; e < rows.indptr[row + 1]; ++e)
      if (marks_[static_cast<std::size_t>(rows.columns[e])]) return true;
    return false;
  }

  // Measures a few rows of the rarest lists.
  template <class Wanted>
  void seed(Wanted& wanted) {
    seeds_.clear();
    if constexpr (!std::is_same_v<Wanted, BestMatches>) return;
    for (const Part& part : parts_) {
      const Range list = lists_.list(part.rank);
      for (std::int64_t e = list.begin; e < list.end; ++e) {
        if (static_cast<std::int64_t>(seeds_.size()) >= kSeeds) break;
        const std::int32_t r = lists_.entries()[static_cast<std::size_t>(e)];
        if (r != itself_ && r < end_) seeds_.push_back(r);
      }
    }
    std::sort(seeds_.begin(), seeds_.end());
    seeds_.erase(std::unique(seeds_.begin(), seeds_.end()), seeds_.end());
    for (const std::int32_t r : seeds_) {
      meter_.spend(4 * lists_.size(r) + 16);
      wanted.offer(cosine(r), lists_.row(r));
    }
  }

  template <class Wanted>
  void visit(std::int64_t b, Wanted& wanted) {
    const RowBlock& block = lists_.blocks()[static_cast<std::size_t>(b)];
    const double least = wanted.least();
    // A sum of 0 says that a row shares nothing, unless products cancel out: that matters only
    // where a cosine of 0 is wanted.
    const bool all = !(least > margin_ + 1e-6);
    std::int64_t left = 0, done = 0;
    segments_.clear();
    for (const Part& part : parts_) {
      segments_.push_back(lists_.segment(part.rank, b));
      left += segments_.back().end - segments_.back().begin;
    }
    const std::int64_t mean = (block.shortest + block.longest) / 2 + 8;
    float* const sums = sums_.data() - block.begin;
    std::uint8_t* const touched = touched_.data() - block.begin;
    std::size_t i = 0;
    double rest = 0;
    const std::int64_t width = block.end - block.begin;
    std::int64_t checked = std::numeric_limits<std::int64_t>::max();
    for (; i < parts_.size(); ++i) {
      const double bound = least - parts_[i].rest - margin_;
      if (!all && bound > 1e-6 && left > 0 && 2 * left < checked) {
        checked = left;
        if (done * kVerify < left || find_at_least(sums_.data(), (width + 7) / 8 * 8,
                                                   round_down(bound), candidates_.data()) *
                                             mean * kVerify / 8 <
                                         left) {
          rest = parts_[i].rest;
          break;
        }
      }
      const Range list = segments_[i];
      const float weight = parts_[i].weight;
      const std::int32_t* const entries = lists_.entries().data();
      const float* const numbers = index_.parts_.data();
      for (std::int64_t e = list.begin; e < list.end; ++e) sums[entries[e]] += weight * numbers[e];
      if (all)
        for (std::int64_t e = list.begin; e < list.end; ++e) touched[entries[e]] = 1;
      done += list.end - list.begin;
      left -= list.end - list.begin;
    }
    meter_.spend(8 * static_cast<std::int64_t>(parts_.size()) + 2 * done + width / 4);
    if (done == 0) return;
    found_.clear();
    if (all || done <= kFew) {
      const float limit =
          all ? -std::numeric_limits<float>::infinity() : round_down(least - rest - margin_);
      for (std::size_t l = 0; l < i; ++l)
        for (std::int64_t e = segments_[l].begin; e < segments_[l].end; ++e) {
          const std::int32_t r = lists_.entries()[static_cast<std::size_t>(e)];
          if (all ? touched[r] != 0 : sums[r] >= limit) found_.push_back({sums[r], r});
          sums[r] = all ? 0.0F : -std::numeric_limits<float>::infinity();
          touched[r] = 0;
        }
      if (!all)
        for (std::size_t l = 0; l < i; ++l)
          for (std::int64_t e = segments_[l].begin; e < segments_[l].end; ++e)
            sums[lists_.entries()[static_cast<std::size_t>(e)]] = 0;
      if (all) {  // the most promising first, so that the others need not be measured
        std::sort(found_.begin(), found_.end(), [](const Candidate& x, const Candidate& y) {
          return x.sum != y.sum ? x.sum > y.sum : x.row < y.row;
        });
      }
    } else {
      const std::int64_t n = find_at_least(sums_.data(), (width + 7) / 8 * 8,
                                           round_down(least - rest - margin_), candidates_.data());
      for (std::int64_t c = 0; c < n; ++c) {
        const std::int32_t at = candidates_[static_cast<std::size_t>(c)];
        found_.push_back(
            {sums_[static_cast<std::size_t>(at)], static_cast<std::int32_t>(block.begin) + at});
      }
      std::memset(sums_.data(), 0, static_cast<std::size_t>(width) * sizeof(float));
    }
    for (const Candidate& candidate : found_) {
      const std::int32_t r = candidate.row, row = lists_.row(r);
      if (static_cast<double>(candidate.sum) + rest + margin_ < wanted.least()) continue;
      if (r == itself_ || r >= end_ || std::binary_search(seeds_.begin(), seeds_.end(), r))
        continue;
      meter_.spend(4 * lists_.size(r));
      wanted.offer(cosine(r), row);
    }
  }

  // Rows that share nothing with the query have a cosine of 0.
  template <class Wanted>
  void add_strangers(Wanted& wanted) {
    for (std::int32_t row = 0; row < lists_.n_rows() && wanted.wants(0.0, row); ++row) {
      const std::int32_t r = lists_.place(row);
      if (r != itself_ && r < end_ && (length_ == 0 || !shares(row))) wanted.offer(0.0, row);
    }
  }

  const CosineIndex& index_;
  const InvertedLists& lists_;
  std::vector<double> dense_;        // the query
  std::vector<std::uint8_t> marks_;  // its columns
  std::vector<float> sums_;          // of the rows of a block; all 0 between blocks
  std::vector<std::uint8_t> touched_;
  std::vector<std::int32_t> candidates_, seeds_;
  std::vector<Candidate> found_;
  std::vector<Part> parts_;
  std::vector<Range> segments_;
  std::int64_t itself_ = -1, end_ = 0;
  double length_ = 0, margin_ = 0;
  Meter meter_;
};

CosineIndex::CosineIndex(const SparseVectors& rows, Poll poll)
    : rows_(rows),
      lists_(rows.pattern, poll),
      parts_(lists_.entries().size()),
      largest_(static_cast<std::size_t>(rows.pattern.n_columns), 0.0F) {
  std::vector<std::int64_t> next;
  for (std::int64_t k = 0; k < rows.pattern.n_columns; ++k)
    next.push_back(lists_.list(static_cast<std::int32_t>(k)).begin);
  Poller poller(poll);
  for (std::int64_t r = 0; r < lists_.n_rows(); ++r) {
    const std::int64_t row = lists_.row(r);
    for (std::int64_t e = rows.pattern.indptr[row]; e < rows.pattern.indptr[row + 1]; ++e) {
      const auto rank = static_cast<std::size_t>(lists_.rank(rows.pattern.columns[e]));
      const auto part = static_cast<float>(rows.numbers[e] / rows.lengths[row]);
      parts_[static_cast<std::size_t>(next[rank]++)] = part;
      largest_[rank] = std::max(largest_[rank], std::abs(part));
    }
    if (r % 1024 == 0) poller.check();
  }
}

void CosineIndex::nearest(const SparseVectors& queries, bool itself, std::int64_t k,
                          double* distances, std::int32_t* rows, int n_jobs, Poll poll) const {
  for_queries(queries.pattern.n_rows, n_jobs, poll, [&](Range range, StopToken& token) {
    CosineWalk walk(*this, token);
    BestMatches best;
    for (std::int64_t q = range.begin; q < range.end; ++q) {
      best.begin(k);
      walk.run(queries, q, itself ? lists_.place(q) : -1, n_rows(), best);
      std::sort(best.matches().begin(), best.matches().end());
      for (std::int64_t r = 0; r < k; ++r) {
        const Match& match = best.matches()[static_cast<std::size_t>(r)];
        distances[q * k + r] = std::max(1 - match.nearness, 0.0);
        rows[q * k + r] = match.row;
      }
    }
  });
}

double CosineIndex::distance(std::int64_t i, std::int64_t j) const {
  if (i == j) return 0;
  const SparsePattern& rows = rows_.pattern;
  std::int64_t e = rows.indptr[i], f = rows.indptr[j];
  double sum = 0;
  while (e < rows.indptr[i + 1] && f < rows.indptr[j + 1]) {
    if (rows.columns[e] == rows.columns[f])
      sum += rows_.numbers[e++] * rows_.numbers[f++];
    else if (rows.columns[e] < rows.columns[f])
      ++e;
    else
      ++f;
  }
  return std::max(1 - sum / (rows_.lengths[i] * rows_.lengths[j]), 0.0);
}

std::int64_t CosineIndex::mean_length() const {
  const SparsePattern& rows = rows_.pattern;
  return rows.n_rows ? rows.indptr[rows.n_rows] / rows.n_rows : 0;
}

namespace {

// The first object of other components that one reaches.
class Foreign {
 public:
  Foreign(ReachForest& forest, std::int64_t i) : forest_(forest), i_(i) {}
  double least() const { return 1 - forest_.bound(i_) - 1e-15; }
  // Whether a row of another component would come first; equal ones are asked for as they ascend.
  bool wants(double cosine, std::int32_t row) const {
    const double distance = std::max(1 - cosine, 0.0);
    const ReachKnown& known = forest_.known(i_);
    if (distance > forest_.bound(i_)) return false;
    return !(known.object >= 0 && known.reach <= distance && known.distance <= distance &&
             known.object < row);
  }
  void offer(double cosine, std::int32_t row) {
    if (forest_.component(row) == forest_.component(i_)) return;
    const double distance = std::max(1 - cosine, 0.0);
    if (std::max(distance, forest_.core(row)) <= forest_.bound(i_))
      forest_.offer(i_, row, distance);
  }

 private:
  ReachForest& forest_;
  const std::int64_t i_;
};

}  // namespace

void CosineIndex::reach_others(const std::vector<std::int32_t>& rows, ReachForest& forest,
                               int n_jobs, Poll poll) const {
  for_queries(static_cast<std::int64_t>(rows.size()), n_jobs, poll,
              [&](Range range, StopToken& token) {
                CosineWalk walk(*this, token);
                for (std::int64_t q = range.begin; q < range.end; ++q) {
                  const std::int64_t i = rows[static_cast<std::size_t>(q)];
                  if (forest.is_settled(i)) continue;
                  Foreign wanted(forest, i);
                  walk.run(rows_, i, lists_.place(i), n_rows(), wanted);
                  forest.finish(i);
                }
              });
}

void CosineIndex::within(const SparseVectors& queries, bool itself, bool once, double least,
                         std::vector<std::vector<Match>>& found, int n_jobs, Poll poll) const {
  found.assign(static_cast<std::size_t>(queries.pattern.n_rows), {});
  for_queries(queries.pattern.n_rows, n_jobs, poll, [&](Range range, StopToken& token) {
    CosineWalk walk(*this, token);
    for (std::int64_t q = range.begin; q < range.end; ++q) {
      const std::int64_t own = itself || once ? lists_.place(q) : -1;
      MatchesWithin wanted(least);
      walk.run(queries, q, own, once ? own : n_rows(), wanted);
      found[static_cast<std::size_t>(q)] = wanted.take();
    }
  });
}

}  // namespace tacit
