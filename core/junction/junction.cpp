#include "junction/junction.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

namespace tacit {
namespace {

constexpr std::size_t kRecentPlans = 32;
constexpr int kTries = 3;               // greedy orders for a question
constexpr std::size_t kBlocks = 32;     // of records
constexpr std::size_t kSums = 1 << 24;  // cells of all blocks' sums together

}  // namespace

JunctionTree::JunctionTree(JunctionNet net, JunctionLimits limits, Poll poll)
    : net_(std::move(net)), limits_(limits) {
  std::tie(order_, needs_) = order_columns(net_, poll);
}

std::shared_ptr<const JunctionPlan> JunctionTree::plan(JunctionTask task, const std::int32_t* codes,
                                                       const std::vector<std::uint32_t>& targets,
                                                       Poll poll) {
  const std::size_t n = net_.n_columns();
  Key key{static_cast<std::uint64_t>(task), targets.size()};
  key.insert(key.end(), targets.begin(), targets.end());
  const std::size_t first = key.size();
  key.resize(first + (n + 63) / 64, 0);
  for (std::size_t c = 0; c < n; ++c)
    if (codes[c] >= 0) key[first + c / 64] |= std::uint64_t{1} << (c % 64);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = recent_.begin(); it != recent_.end(); ++it)
      if (it->first == key) {
        recent_.splice(recent_.begin(), recent_, it);
        return it->second;
      }
  }
  auto made = std::make_shared<const JunctionPlan>(
      plan_junction(net_, task, codes, targets, order_, kTries, limits_, poll));
  const std::lock_guard<std::mutex> lock(mutex_);
  recent_.emplace_front(std::move(key), made);
  if (recent_.size() > kRecentPlans) recent_.pop_back();
  return made;
}

void JunctionTree::evidence_many(const std::int32_t* codes, std::size_t n, const double* weights,
                                 double* log_evidence, double* families, int n_jobs, Poll poll) {
  const std::size_t width = net_.n_columns(), n_cells = net_.tables.size();
  const auto same_pattern = [&](std::size_t a, std::size_t b) {
    for (std::size_t c = 0; c < width; ++c)
      if ((codes[a * width + c] < 0) != (codes[b * width + c] < 0)) return false;
    return true;
  };
  // Records that lack the same columns side by side, and equal ones together.
  std::vector<std::size_t> sorted(n);
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
    const std::int32_t *x = codes + a * width, *y = codes + b * width;
    for (std::size_t c = 0; c < width; ++c)
      if ((x[c] < 0) != (y[c] < 0)) return x[c] < 0;
    return std::lexicographical_compare(x, x + width, y, y + width);
  });
  const std::size_t most = families ? std::max<std::size_t>(1, kSums / (n_cells + 1)) : kBlocks;
  const std::size_t n_blocks = std::min({n, kBlocks, most});
  std::vector<std::vector<double>> sums(families ? n_blocks : 0);
  const JunctionTask task = families ? JunctionTask::kPosterior : JunctionTask::kEvidence;
  for_blocks(
      static_cast<std::int64_t>(n_blocks), n_jobs, poll, [&](std::int64_t b, StopToken& token) {
        const Range range =
            block_range(static_cast<std::int64_t>(n), static_cast<std::int64_t>(n_blocks), b);
        double* const sum = families ? (sums[static_cast<std::size_t>(b)].assign(n_cells, 0.0),
                                        sums[static_cast<std::size_t>(b)].data())
                                     : nullptr;
        JunctionPlan plan;
        std::unique_ptr<JunctionRun> run;
        const auto end = static_cast<std::size_t>(range.end);
        for (auto k = static_cast<std::size_t>(range.begin); k < end;) {
          const std::size_t record = sorted[k];
          const std::int32_t* const evidence = codes + record * width;
          if (!run || !same_pattern(record, sorted[k - 1])) {
            run.reset();
            plan = plan_junction(net_, task, evidence, {}, order_, 1, limits_, nullptr);
            run = std::make_unique<JunctionRun>(net_, plan, token);
          }
          std::size_t next = k;
          double weight = 0;
          for (; next < end; ++next) {
            const std::size_t other = sorted[next];
            if (std::memcmp(codes + other * width, evidence, width * sizeof *evidence) != 0) break;
            weight += weights ? weights[other] : 1;
          }
          const double result =
              sum ? run->families(evidence, weight, sum) : run->evidence(evidence);
          for (; k < next; ++k) log_evidence[sorted[k]] = result;
          token.check();
        }
      });
  for (const auto& sum : sums)
    for (std::size_t i = 0; i < n_cells; ++i) families[i] += sum[i];
}

}  // namespace tacit
