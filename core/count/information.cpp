#include "count/information.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace tacit {
namespace {

// A number that is not negative, with 64 bits on either side of the point. Sums of these are exact.
struct Fixed {
  std::uint64_t whole = 0, part = 0;

  Fixed() = default;
  template <class Real>
  explicit Fixed(Real x) : whole(static_cast<std::uint64_t>(x)) {
    part = static_cast<std::uint64_t>(std::ldexp(x - static_cast<Real>(whole), 64));
  }
  void operator+=(const Fixed& other) {
    part += other.part;
    whole += other.whole + (part < other.part);
  }
  void operator-=(const Fixed& other) {
    whole -= other.whole + (part < other.part);
    part -= other.part;
  }
  long double value() const {
    return static_cast<long double>(whole) + std::ldexp(static_cast<long double>(part), -64);
  }
};

// c · log2 c. In long double, so that what is equal in theory differs far below a double's last
// bit.
Fixed weigh(std::int64_t c) {
  const auto x = static_cast<long double>(c);
  return Fixed(x * std::log2(x));
}

constexpr std::int64_t kSmall = 4096;  // counts that are looked up; 64 kB

const std::array<Fixed, kSmall>& small_weights() {
  static const auto weights = [] {
    std::array<Fixed, kSmall> table{};
    for (std::int64_t c = 2; c < kSmall; ++c) table[static_cast<std::size_t>(c)] = weigh(c);
    return table;
  }();
  return weights;
}

// Takes a table row by row: first its sum, which is above 0, then each of its cells.
template <class Count>
class Tally;

// Whole numbers: N·H(S) = N log2 N − Σ r log2 r and N·H(Y | S) = Σ r log2 r − Σ c log2 c. Cells of
// 0 are added like others: that is cheaper than to guess which they are.
template <>
class Tally<std::int64_t> {
 public:
  explicit Tally(std::int64_t) : small_(small_weights().data()) {}
  void row(std::int64_t r) {
    ++n_rows_;
    total_ += r;
    rows_ += weight(r);
  }
  void cell(std::int64_t c) {
    n_cells_ += c != 0;
    cells_ += weight(c);
  }
  void finish(const Entropies& out, std::int64_t k) const {
    const auto n = static_cast<long double>(total_);
    Fixed target = rows_, rows = n_rows_ > 1 ? weigh(total_) : rows_;
    target -= cells_;
    rows -= rows_;
    out.rows[k] = n_rows_ > 1 ? static_cast<double>(rows.value() / n) : 0.0;
    out.target[k] = n_cells_ > n_rows_ ? static_cast<double>(target.value() / n) : 0.0;
    out.n_rows[k] = n_rows_;
    out.n_cells[k] = n_cells_;
  }

 private:
  Fixed weight(std::int64_t c) const { return c < kSmall ? small_[c] : weigh(c); }

  const Fixed* small_;
  Fixed rows_, cells_;
  std::int64_t total_ = 0, n_rows_ = 0, n_cells_ = 0;
};

// Sums of weights: each term is a fraction of the total, and none is negative.
template <>
class Tally<double> {
 public:
  explicit Tally(double total) : total_(total), log_total_(std::log2(total)) {}
  void row(double r) {
    ++n_rows_;
    row_ = r;
    log_row_ = std::log2(r);
    rows_ += Fixed(std::max(r / total_ * (log_total_ - log_row_), 0.0));
  }
  void cell(double c) {
    if (!(c > 0)) return;
    ++n_cells_;
    if (c < row_) target_ += Fixed(std::max(c / total_ * (log_row_ - std::log2(c)), 0.0));
  }
  void finish(const Entropies& out, std::int64_t k) const {
    out.rows[k] = static_cast<double>(rows_.value());
    out.target[k] = static_cast<double>(target_.value());
    out.n_rows[k] = n_rows_;
    out.n_cells[k] = n_cells_;
  }

 private:
  const double total_, log_total_;
  double row_ = 0, log_row_ = 0;
  Fixed rows_, target_;
  std::int64_t n_rows_ = 0, n_cells_ = 0;
};

template <class Count>
Count sum(const Count* begin, std::int64_t n) {
  Count total = 0;
  for (std::int64_t k = 0; k < n; ++k) total += begin[k];
  return total;
}

// Only sums of weights need their total beforehand.
template <class Count>
Tally<Count> start(const Count* counts, std::int64_t n) {
  return Tally<Count>(std::is_integral_v<Count> ? Count{0} : sum(counts, n));
}

// Measures a table. Most rows do not occur, in no order that could be guessed: those of a chunk
// that do are listed first, without a jump, and then tallied. Arity is 0 where it is not known yet.
template <std::int64_t Arity, class Count>
void tally_rows(const Count* counts, std::int64_t n_rows, std::int64_t given_arity,
                Tally<Count>& tally) {
  constexpr std::int64_t kChunk = 512;
  const std::int64_t arity = Arity ? Arity : given_arity;
  std::int64_t position[kChunk];
  Count total[kChunk];
  for (std::int64_t first = 0; first < n_rows; first += kChunk) {
    const std::int64_t last = std::min(first + kChunk, n_rows);
    std::int64_t n = 0;
    for (std::int64_t row = first; row < last; ++row) {
      const Count r = sum(counts + row * arity, arity);
      position[n] = row * arity;
      total[n] = r;
      n += r > 0;
    }
    for (std::int64_t k = 0; k < n; ++k) {
      tally.row(total[k]);
      for (std::int64_t c = 0; c < arity; ++c) tally.cell(counts[position[k] + c]);
    }
  }
}

template <class Count>
void one_table(const Count* counts, std::int64_t n, std::int64_t arity, const Entropies& out,
               std::int64_t k) {
  auto tally = start(counts, n);
  if (arity == 2)
    tally_rows<2>(counts, n / 2, arity, tally);
  else
    tally_rows<0>(counts, n / arity, arity, tally);
  tally.finish(out, k);
}

}  // namespace

template <class Count>
void table_entropies(const Count* counts, const std::int64_t* offsets, std::int64_t n_tables,
                     const std::int64_t* arities, Entropies out, int n_jobs, Poll poll) {
  constexpr std::int64_t kWorth = 1 << 16, kMost = 64;  // cells that are worth a thread
  const std::int64_t cells = n_tables > 0 ? offsets[n_tables] - offsets[0] : 0;
  const auto n_blocks = std::clamp<std::int64_t>(cells / kWorth, 1, std::min(n_tables + 1, kMost));
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    Meter meter(token);
    const Range range = block_range(n_tables, n_blocks, b);
    for (std::int64_t k = range.begin; k < range.end; ++k) {
      one_table(counts + offsets[k], offsets[k + 1] - offsets[k], arities[k], out, k);
      meter.spend(offsets[k + 1] - offsets[k]);
    }
  });
}

template <class Count>
void cell_entropies(const std::int64_t* cells, const Count* counts, std::int64_t n,
                    std::int64_t arity, Entropies out) {
  auto tally = start(counts, n);
  for (std::int64_t begin = 0, end = 0; begin < n; begin = end) {
    const std::int64_t row = cells[begin] / arity;
    while (end < n && cells[end] / arity == row) ++end;
    const Count r = sum(counts + begin, end - begin);
    if (!(r > 0)) continue;
    tally.row(r);
    for (std::int64_t k = begin; k < end; ++k) tally.cell(counts[k]);
  }
  tally.finish(out, 0);
}

#define TACIT_INSTANTIATE(Count)                                                              \
  template void table_entropies(const Count*, const std::int64_t*, std::int64_t,              \
                                const std::int64_t*, Entropies, int, Poll);                   \
  template void cell_entropies(const std::int64_t*, const Count*, std::int64_t, std::int64_t, \
                               Entropies);
TACIT_INSTANTIATE(std::int64_t)
TACIT_INSTANTIATE(double)
#undef TACIT_INSTANTIATE

}  // namespace tacit
