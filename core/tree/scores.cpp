#include "tree/scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>

#include "base/fast_log.hpp"

namespace tacit {
namespace {

constexpr double kLeast = 1e-300;  // stands for zero where a logarithm is multiplied by zero
constexpr double kNever = -std::numeric_limits<double>::infinity();

TACIT_INLINE double at_least(double x, double least) { return x > least ? x : least; }
TACIT_INLINE Number4 at_least(Number4 x, double least) {
  const Number4 floor = Number4{} + least;
  return x > floor ? x : floor;
}

template <class D>
TACIT_INLINE D x_log_x(D x) {
  return x * fast_log(at_least(x, kLeast));
}

// One side of a split: sums over classes are closed with the side's weight.
struct EntropySide {
  template <class D>
  struct Of {
    TACIT_INLINE Of(double, double, D) {}
    TACIT_INLINE D term(D count) const { return x_log_x(count); }
    TACIT_INLINE D close(D sum, D weight) const { return sum - x_log_x(weight); }
  };
};

struct GiniSide {
  template <class D>
  struct Of {
    TACIT_INLINE Of(double, double, D) {}
    TACIT_INLINE D term(D count) const { return count * count; }
    TACIT_INLINE D close(D sum, D weight) const { return sum / at_least(weight, kLeast); }
  };
};

// The marginal likelihood of a leaf under a Dirichlet prior of `pseudo` · fraction for each class.
struct DirichletSide {
  template <class D>
  struct Of {
    D each, all, log_each, log_all;
    TACIT_INLINE Of(double pseudo, double n_classes, D prior_fraction)
        : each(pseudo * prior_fraction),
          all(n_classes * (pseudo * prior_fraction)),
          log_each(log_gamma(each)),
          log_all(log_gamma(all)) {}
    TACIT_INLINE D term(D count) const { return log_gamma(count + each) - log_each; }
    TACIT_INLINE D close(D sum, D weight) const {
      return sum - (log_gamma(weight + all) - log_all);
    }
  };
};

template <class D>
TACIT_INLINE D squares(D weight, D first) {
  return first * first / at_least(weight, kLeast);
}

// The marginal likelihood of numbers under a normal-inverse-gamma prior.
template <class D>
TACIT_INLINE D normal_evidence(const NormalPrior& prior, D weight, D first, D second) {
  const D w = at_least(weight, kLeast);
  const D mean = first / w;
  const D spread = at_least(second - first * mean, 0.0);
  const D strength = prior.strength + weight;
  const D shape = prior.shape + 0.5 * weight;
  const D off = mean - prior.mean;
  const D rate = prior.rate + 0.5 * spread + prior.strength * weight * off * off / (2.0 * strength);
  constexpr double kLog2Pi = 1.8378770664093454836;
  const double base =
      prior.shape * fast_log(prior.rate) - log_gamma(prior.shape) + 0.5 * fast_log(prior.strength);
  return log_gamma(shape) + base - shape * fast_log(rate) - 0.5 * fast_log(strength) -
         0.5 * kLog2Pi * weight;
}

template <class T>
TACIT_INLINE Number4 load4(const T* p) {
  return Number4{static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2]),
                 static_cast<double>(p[3])};
}

}  // namespace

// What the loops below are given: all in doubles, in records rather than units.
struct TreeScore::Sides {
  std::int64_t n_stats;
  double scale, pseudo, prior_fraction,
      added;         // added: to the two sides' scores, to make them a gain
  double low, high;  // the least and the greatest weight of the inside
  NormalPrior normal;
  const double* whole;
};

namespace {

using Sides = TreeScore::Sides;

template <class T>
struct Loop {
  const T* inside;
  std::int64_t stride, n;
  const double* fractions;
  double* gains;

  template <class Gain>
  TACIT_INLINE void run(const Sides& sides, const Gain& gain) const {
    const Number4 low = Number4{} + sides.low, high = Number4{} + sides.high;
    const Number4 never = Number4{} + kNever;
    for (std::int64_t i = 0; i < n; i += 4) {
      const Number4 weight = load4(inside + i) * sides.scale;
      const Number4 total_gain = gain(i, weight) + sides.added;
      const Number4 kept = weight >= low ? total_gain : never;
      const Number4 result = weight <= high ? kept : never;
      std::memcpy(gains + i, &result, sizeof result);
    }
  }
};

template <class Side, bool kVaries, class T>
TACIT_INLINE void by_class(const Loop<T>& loop, const Sides& sides) {
  using Of = typename Side::template Of<Number4>;
  const double n_classes = static_cast<double>(sides.n_stats);
  const Number4 prior_fraction = Number4{} + sides.prior_fraction;
  const Of half(sides.pseudo, n_classes, kVaries ? prior_fraction : 0.5 * prior_fraction);
  const auto gain = [&](std::int64_t i, Number4 weight) TACIT_INLINE_LAMBDA {
    Of in = half, out = half;
    if constexpr (kVaries) {
      const Number4 part = load4(loop.fractions + i) * prior_fraction;
      in = Of(sides.pseudo, n_classes, part);
      out = Of(sides.pseudo, n_classes, prior_fraction - part);
    }
    Number4 base = weight;
    Number4 base_out = sides.whole[0] - weight;
    const Number4 rest = base_out;
    Number4 sum_in{}, sum_out{};
    for (std::int64_t p = 1; p < sides.n_stats; ++p) {
      const Number4 count = load4(loop.inside + p * loop.stride + i) * sides.scale;
      const Number4 other = sides.whole[p] - count;
      base -= count;
      base_out -= other;
      sum_in += in.term(count);
      sum_out += out.term(other);
    }
    sum_in += in.term(base);
    sum_out += out.term(base_out);
    return in.close(sum_in, weight) + out.close(sum_out, rest);
  };
  loop.run(sides, gain);
}

template <class T>
TACIT_INLINE void by_squares(const Loop<T>& loop, const Sides& sides) {
  loop.run(sides, [&](std::int64_t i, Number4 weight) TACIT_INLINE_LAMBDA {
    const Number4 first = load4(loop.inside + loop.stride + i) * sides.scale;
    return squares(weight, first) + squares(sides.whole[0] - weight, sides.whole[1] - first);
  });
}

template <class T>
TACIT_INLINE void by_normals(const Loop<T>& loop, const Sides& sides) {
  loop.run(sides, [&](std::int64_t i, Number4 weight) TACIT_INLINE_LAMBDA {
    const Number4 first = load4(loop.inside + loop.stride + i) * sides.scale;
    const Number4 second = load4(loop.inside + 2 * loop.stride + i) * sides.scale;
    return normal_evidence(sides.normal, weight, first, second) +
           normal_evidence(sides.normal, sides.whole[0] - weight, sides.whole[1] - first,
                           sides.whole[2] - second);
  });
}

template <class T>
TACIT_INLINE void evaluate_as(TreeCriterion criterion, const Loop<T>& loop, const Sides& sides) {
  switch (criterion) {
    case TreeCriterion::kBayesFactor:
      if (loop.fractions) return by_class<DirichletSide, true>(loop, sides);
      return by_class<DirichletSide, false>(loop, sides);
    case TreeCriterion::kBic:
    case TreeCriterion::kEntropy:
      return by_class<EntropySide, false>(loop, sides);
    case TreeCriterion::kGini:
      return by_class<GiniSide, false>(loop, sides);
    case TreeCriterion::kSquaredError:
      return by_squares(loop, sides);
    case TreeCriterion::kNormal:
      return by_normals(loop, sides);
  }
}

// With two classes a gain depends on two counts, and most columns of a wide table are rare: each
// pair of small counts is evaluated once and looked up from then on, the others are gathered.
template <class T>
void evaluate_two(TreeCriterion criterion, const Loop<T>& loop, const Sides& sides) {
  constexpr std::int64_t kRare = 32, kPairs = kRare * (kRare + 1) / 2, kBlock = 512;
  static_assert(kPairs % 4 == 0 && kPairs > kBlock);
  const auto evaluate = avx2_or_plain<evaluate_as<T>>();
  T counts[2 * kPairs];
  double known[kPairs], others[kBlock + 4];
  for (std::int64_t weight = 0, at = 0; weight < kRare; ++weight)
    for (std::int64_t count = 0; count <= weight; ++count, ++at) {
      counts[at] = static_cast<T>(weight);
      counts[kPairs + at] = static_cast<T>(count);
    }
  evaluate(criterion, {counts, kPairs, kPairs, nullptr, known}, sides);
  std::int64_t index[kBlock];
  for (std::int64_t begin = 0; begin < loop.n; begin += kBlock) {
    const std::int64_t end = std::min(begin + kBlock, loop.n);
    std::int64_t n = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const T weight = loop.inside[i], count = loop.inside[loop.stride + i];
      const auto w = static_cast<std::int64_t>(weight);
      const bool is_rare = w < kRare;
      loop.gains[i] = known[is_rare ? w * (w + 1) / 2 + static_cast<std::int64_t>(count) : 0];
      counts[n] = weight;  // kept if it is not rare
      counts[kPairs + n] = count;
      index[n] = i;
      n += !is_rare;
    }
    for (std::int64_t i = n; i < n + 4 && i < kPairs; ++i) counts[i] = counts[kPairs + i] = T{0};
    evaluate(criterion, {counts, kPairs, n, nullptr, others}, sides);
    for (std::int64_t k = 0; k < n; ++k) loop.gains[index[k]] = others[k];
  }
}

// Small leaves of small tables: what each count adds is looked up.
struct TableLoop {
  const double* terms;
  const double* closes;
  const std::int64_t* whole;
  std::int64_t n_stats, min_leaf;
  double added;
};

template <bool kTwoClasses, class T>
void look_up_gains(const TableLoop& tables, const T* inside, std::int64_t stride, std::int64_t n,
                   double* gains) {
  const double *terms = tables.terms, *closes = tables.closes;
  const std::int64_t all = tables.whole[0], n_stats = kTwoClasses ? 2 : tables.n_stats;
  const std::int64_t most = all - tables.min_leaf;
  std::int64_t base_whole = all;
  for (std::int64_t p = 1; p < n_stats; ++p) base_whole -= tables.whole[p];
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t weight = inside[i];
    std::int64_t base = weight;
    double sum_in = 0.0, sum_out = 0.0;
    for (std::int64_t p = 1; p < n_stats; ++p) {
      const std::int64_t count = inside[p * stride + i];
      base -= count;
      sum_in += terms[count];
      sum_out += terms[tables.whole[p] - count];
    }
    sum_in += terms[base];
    sum_out += terms[base_whole - base];
    const double gain =
        ((sum_in - closes[weight]) + (sum_out - closes[all - weight])) + tables.added;
    // No branch: which columns occur in a small leaf cannot be guessed.
    gains[i] = (weight >= tables.min_leaf) & (weight <= most) ? gain : kNever;
  }
}

struct CountTables {
  double pseudo;  // 0 for x log x
  std::int64_t n_classes;
  std::vector<double> terms, closes;
};

// Tables are the same for all trees of a kind: a few are kept, and grow when they must.
std::shared_ptr<const CountTables> count_tables(double pseudo, std::int64_t n_classes,
                                                std::size_t size) {
  constexpr std::size_t kKept = 16;
  static std::mutex mutex;
  static std::vector<std::shared_ptr<const CountTables>> kept;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto same = [&](const auto& tables) {
    return tables->pseudo == pseudo && tables->n_classes == n_classes;
  };
  const auto known = std::find_if(kept.begin(), kept.end(), same);
  if (known != kept.end() && (*known)->terms.size() >= size) return *known;
  auto made = std::make_shared<CountTables>();
  *made = {pseudo, n_classes, std::vector<double>(size), std::vector<double>(size)};
  const DirichletSide::Of<double> side(pseudo > 0 ? pseudo : 1.0, static_cast<double>(n_classes),
                                       1.0);
  for (std::size_t c = 0; c < size; ++c) {
    const auto count = static_cast<double>(c);
    made->terms[c] = pseudo > 0 ? side.term(count) : x_log_x(count);
    made->closes[c] = pseudo > 0 ? -side.close(0.0, count) : x_log_x(count);
  }
  if (known != kept.end()) kept.erase(known);
  if (kept.size() == kKept) kept.erase(kept.begin());
  kept.push_back(made);
  return made;
}

bool is_regression(TreeCriterion criterion) {
  return criterion == TreeCriterion::kSquaredError || criterion == TreeCriterion::kNormal;
}

// The sum of squared deviations from the mean.
double spread(const std::int64_t* stats) {
  const auto first = static_cast<double>(stats[1]);
  return static_cast<double>(stats[2]) - first * first / static_cast<double>(stats[0]);
}

double penalty(const TreeRules& rules, std::int64_t n_stats, double whole) {
  const double parameters = static_cast<double>(n_stats - 1);  // two for a mean and a variance
  if (rules.criterion == TreeCriterion::kBic)
    return -0.5 * parameters * std::log(std::max(whole, 1.0));
  const bool has_prior =
      rules.criterion == TreeCriterion::kBayesFactor || rules.criterion == TreeCriterion::kNormal;
  return has_prior ? parameters * rules.log_kappa : 0.0;
}

}  // namespace

TreeScore::TreeScore(const TreeRules& rules, std::int64_t n_stats, std::int64_t whole)
    : criterion_(rules.criterion),
      normal_(rules.normal),
      n_stats_(n_stats),
      min_leaf_(std::max<std::int64_t>(rules.min_leaf, 1)),
      scale_(1.0 / rules.unit),
      pseudo_(rules.bdeu ? rules.prior_weight / static_cast<double>(n_stats) : rules.prior_weight),
      per_leaf_(penalty(rules, n_stats, static_cast<double>(whole) / rules.unit)),
      min_gain_(rules.min_gain),
      bdeu_(rules.bdeu && rules.criterion == TreeCriterion::kBayesFactor),
      greedy_(criterion_ == TreeCriterion::kEntropy || criterion_ == TreeCriterion::kGini ||
              criterion_ == TreeCriterion::kSquaredError),
      regression_(is_regression(criterion_)) {
  constexpr std::int64_t kLongest = 1 << 16;
  if (rules.unit != 1.0 || whole >= kLongest || regression_ || bdeu_) return;
  const auto size = static_cast<std::size_t>(whole) + 1;
  const bool bayes = criterion_ == TreeCriterion::kBayesFactor;
  if (criterion_ == TreeCriterion::kGini) return;
  const auto tables = count_tables(bayes ? pseudo_ : 0.0, bayes ? n_stats : 0, size);
  terms_ = {tables, tables->terms.data()};
  closes_ = {tables, tables->closes.data()};
}

bool TreeScore::accepts(double gain, std::int64_t weight) const {
  if (greedy_) return gain >= min_gain_ - 1e-9 * scale_ * static_cast<double>(weight);
  return gain > std::max(min_gain_, 1e-9);  // less is rounding
}

double TreeScore::term(double count, double prior_fraction) const {
  const double n_classes = static_cast<double>(n_stats_), fraction = bdeu_ ? prior_fraction : 1.0;
  if (criterion_ == TreeCriterion::kBayesFactor)
    return DirichletSide::Of<double>(pseudo_, n_classes, fraction).term(count);
  if (criterion_ == TreeCriterion::kGini) return GiniSide::Of<double>(0, 0, 0).term(count);
  return EntropySide::Of<double>(0, 0, 0).term(count);
}

double TreeScore::close(double sum, double weight, double prior_fraction) const {
  const double n_classes = static_cast<double>(n_stats_), fraction = bdeu_ ? prior_fraction : 1.0;
  if (criterion_ == TreeCriterion::kBayesFactor)
    return DirichletSide::Of<double>(pseudo_, n_classes, fraction).close(sum, weight);
  if (criterion_ == TreeCriterion::kGini) return GiniSide::Of<double>(0, 0, 0).close(sum, weight);
  return EntropySide::Of<double>(0, 0, 0).close(sum, weight);
}

double TreeScore::leaf(const std::int64_t* stats, double prior_fraction) const {
  if (terms_) {
    std::int64_t rest = stats[0];
    double sum = 0.0;
    for (std::int64_t p = 1; p < n_stats_; ++p) {
      rest -= stats[p];
      sum += terms_.get()[stats[p]];
    }
    return sum + terms_.get()[rest] - closes_.get()[stats[0]];
  }
  const auto number = [&](std::int64_t p) { return static_cast<double>(stats[p]) * scale_; };
  if (criterion_ == TreeCriterion::kSquaredError) return squares(number(0), number(1));
  if (criterion_ == TreeCriterion::kNormal)
    return normal_evidence(normal_, number(0), number(1), number(2));
  const double weight = number(0);
  double base = weight, sum = 0.0;
  for (std::int64_t p = 1; p < n_stats_; ++p) {
    base -= number(p);
    sum += term(number(p), prior_fraction);
  }
  return close(sum + term(base, prior_fraction), weight, prior_fraction);
}

bool worth_splitting(const TreeRules& rules, std::int64_t n_stats, const std::int64_t* stats,
                     const std::int64_t* root, std::int64_t depth) {
  if (rules.max_depth >= 0 && depth >= rules.max_depth) return false;
  const std::int64_t least = std::max<std::int64_t>(rules.min_leaf, 1);
  if (stats[0] - least < least) return false;
  if (is_regression(rules.criterion)) return spread(stats) > 1e-12 * spread(root);
  std::int64_t base = stats[0], n_classes = 0;
  for (std::int64_t p = 1; p < n_stats; ++p) {
    base -= stats[p];
    n_classes += stats[p] > 0;
  }
  return n_classes + (base > 0) > 1;
}

template <class T>
void SplitJob<T>::evaluate(double* gains) const {
  if (score->terms_) {
    const TableLoop tables{score->terms_.get(),
                           score->closes_.get(),
                           whole,
                           score->n_stats_,
                           score->min_leaf_,
                           score->per_leaf_ - price - score->leaf(whole, prior_fraction)};
    if (score->n_stats_ == 2) return look_up_gains<true>(tables, inside, stride, n, gains);
    return look_up_gains<false>(tables, inside, stride, n, gains);
  }
  double few[64];
  std::unique_ptr<double[]> many;
  const std::int64_t n_stats = score->n_stats_;
  double* scaled = few;
  if (n_stats > 64) {
    many = std::make_unique<double[]>(static_cast<std::size_t>(n_stats));
    scaled = many.get();
  }
  for (std::int64_t p = 0; p < n_stats; ++p)
    scaled[p] = static_cast<double>(whole[p]) * score->scale_;
  const double least = static_cast<double>(score->min_leaf_) * score->scale_;
  const bool varies = score->bdeu_ && fractions;
  // K2's prior is the same on both sides: a "half" of twice its fraction.
  const double side_fraction = score->bdeu_ ? prior_fraction : 2.0;
  const Sides sides{n_stats,
                    score->scale_,
                    score->pseudo_,
                    side_fraction,
                    score->per_leaf_ - price - score->leaf(whole, prior_fraction),
                    least,
                    static_cast<double>(whole[0] - score->min_leaf_) * score->scale_,
                    score->normal_,
                    scaled};
  const Loop<T> loop{inside, stride, n, varies ? fractions : nullptr, gains};
  constexpr std::int64_t kWide = 2048;  // candidates that make up for the table of pairs
  if (n_stats == 2 && n >= kWide && !varies) return evaluate_two(score->criterion_, loop, sides);
  avx2_or_plain<evaluate_as<T>>()(score->criterion_, loop, sides);
}

template struct SplitJob<std::int32_t>;
template struct SplitJob<std::int64_t>;

}  // namespace tacit
