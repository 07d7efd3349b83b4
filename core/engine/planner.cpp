#include "engine/planner.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

namespace tacit {
namespace {

// Nanoseconds to begin with; what is measured corrects them.
constexpr double kCall = 300;    // any answer
constexpr double kRecord = 0.3;  // a record that is read
constexpr double kCode = 0.1;    // and each of its columns
constexpr double kKept = 1.5;   // a record that conditions keep or look at, and each of its columns
constexpr double kStored = 15;  // a stored value that is sorted
constexpr double kWord = 0.65;  // 64 records of a bitmap, for each cell
constexpr double kCell = 8;     // a cell of a table out of the tree
constexpr double kGrow = 4;     // a record that passes through a new node
constexpr double kNode = 150;   // and the node
constexpr double kPairCost =
    24;  // as Scan: below this many records to a stored value, it reads all

constexpr double kHope = 0.7;  // of what is expected, where nothing has been measured

constexpr std::size_t kAllSubsets = 4;  // columns whose subsets are looked at for every question
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr float kNever = -1e30F;
constexpr std::size_t kMostEntries = std::size_t{1} << 19;

std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

std::uint64_t key_of(const CodeSet& codes) {
  std::uint64_t key = mixed(static_cast<std::uint64_t>(codes.first()) << 32 ^
                            static_cast<std::uint64_t>(codes.last() + 1));
  if (!codes.is_range())
    for (std::int64_t code = codes.first(); code <= codes.last(); ++code)
      if (codes.has(code)) key += mixed(key ^ static_cast<std::uint64_t>(code));
  return key;
}

double now() {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::steady_clock::now().time_since_epoch())
                                 .count());
}

}  // namespace

// The ledger

const Ledger::Entry* Ledger::look(std::uint64_t key) const {
  for (std::size_t k = key & (entries_.size() - 1);; k = (k + 1) & (entries_.size() - 1)) {
    if (entries_[k].key == key) return &entries_[k];
    if (entries_[k].key == 0) return nullptr;
  }
}

Ledger::Entry& Ledger::at(std::uint64_t key) {
  if (const Entry* found = look(key)) return *const_cast<Entry*>(found);
  if (2 * used_ >= entries_.size()) {
    // Of very many subsets only those that are in the tree are remembered.
    const bool forget = used_ >= kMostEntries;
    std::vector<Entry> old(forget ? entries_.size() : 2 * entries_.size());
    old.swap(entries_);
    used_ = 0;
    for (const Entry& entry : old) {
      if (entry.key == 0 || (forget && !entry.grown)) continue;
      std::size_t k = entry.key & (entries_.size() - 1);
      while (entries_[k].key != 0) k = (k + 1) & (entries_.size() - 1);
      entries_[k] = entry;
      ++used_;
    }
    if (4 * used_ >= 3 * kMostEntries) clear();
  }
  ++used_;
  std::size_t k = key & (entries_.size() - 1);
  while (entries_[k].key != 0) k = (k + 1) & (entries_.size() - 1);
  entries_[k].key = key;
  return entries_[k];
}

void Ledger::clear() {
  std::fill(entries_.begin(), entries_.end(), Entry{});
  used_ = 0;
}

// Costs

void Planner::Factor::learn(double ratio) {
  const double bound = n == 0 ? 16 : 2;  // one answer that was held up says little
  const double clipped = std::clamp(ratio, value / bound, value * bound);
  value += (clipped - value) / static_cast<double>(n < 8 ? n + 1 : 8);
  ++n;
}

Planner::Planner(std::shared_ptr<const ColumnStore> store, std::shared_ptr<Scan> scan,
                 std::shared_ptr<Bitmaps> bitmaps, std::shared_ptr<Tree> tree,
                 std::int64_t bitmap_limit)
    : Engine(std::move(store)),
      scan_(std::move(scan)),
      bitmaps_(std::move(bitmaps)),
      tree_(std::move(tree)),
      bitmap_limit_(bitmap_limit) {
  const auto m = static_cast<double>(store_->n_records());
  for (std::int64_t c = 0; c < store_->n_columns(); ++c) {
    common_.push_back(bitmaps_->common(c));
    rarer_.push_back(1 - static_cast<double>(store_->count_of(c, common_.back())) / m);
  }
}

std::int64_t Planner::bytes() const { return bitmaps_->bytes() - store_->bytes() + tree_->bytes(); }

double Planner::read_cost(const Question& question, double cells, double matching) const {
  const auto m = static_cast<double>(store_->n_records());
  const auto n = static_cast<double>(question.columns.size());
  if (!question.given.empty()) {
    double least = m;
    for (const Condition& condition : question.given)
      if (condition.codes.is_one())
        least = std::min(least, static_cast<double>(
                                    store_->count_of(condition.column, condition.codes.first())));
    return kCall + kKept * (least * static_cast<double>(question.given.size()) + matching * n) +
           cells;
  }
  double stored = 0;
  for (const std::int64_t c : question.columns) stored += static_cast<double>(store_->n_stored(c));
  if (stored * kPairCost < m) return kCall + kStored * stored + cells;
  return kCall + m * (kRecord + kCode * n) + cells;
}

double Planner::bitmap_cost(const Question& question, double cells) const {
  const auto words = static_cast<double>(bitmaps_->n_words());
  double sets = cells, codes = 0;
  for (const Condition& condition : question.given) {
    sets += condition.codes.is_one() ? 1 : static_cast<double>(store_->arity(condition.column));
    codes += static_cast<double>(store_->arity(condition.column) - 1);
  }
  for (const std::int64_t c : question.columns) codes += static_cast<double>(store_->arity(c) - 1);
  const auto taken = static_cast<double>(bitmaps_->bytes() - store_->bytes());
  if (taken + 8 * words * codes > static_cast<double>(bitmap_limit_)) return kInfinite;
  return kCall + kWord * words * sets;
}

Planner::Asked Planner::look_at(const Question& question) const {
  Asked asked;
  const auto m = static_cast<double>(store_->n_records());
  double cells = 1, matching = m, ways = 1;
  for (const std::int64_t c : question.columns) cells *= static_cast<double>(store_->arity(c));
  std::size_t n = question.columns.size();
  for (const Condition& condition : question.given)
    n += std::find(question.columns.begin(), question.columns.end(), condition.column) ==
         question.columns.end();
  const bool fits = n <= kMostColumns;
  if (fits)
    for (const std::int64_t c : question.columns) {
      const std::uint64_t whole = mixed(static_cast<std::uint64_t>(c) + 1);
      const auto others = static_cast<double>(store_->arity(c) - 1);
      asked.steps[asked.n++] = {
          c, tree_->position(c), rarer_[static_cast<std::size_t>(c)], others, false, whole, whole};
    }
  for (const Condition& condition : question.given) {
    const std::int64_t c = condition.column;
    const bool one = condition.codes.is_one();
    const double fraction = static_cast<double>(one ? store_->count_of(c, condition.codes.first())
                                                    : store_->count_of(c, condition.codes)) /
                            m;
    matching *= fraction;
    if (!fits) continue;
    const auto same = std::find_if(asked.steps.begin(), asked.steps.begin() + asked.n,
                                   [&](const Step& step) { return step.column == c; });
    const bool among = same != asked.steps.begin() + static_cast<std::ptrdiff_t>(asked.n);
    const bool rest = condition.codes.has(common_[static_cast<std::size_t>(c)]);
    if (!among) {
      const std::uint64_t whole = mixed(static_cast<std::uint64_t>(c) + 1);
      const auto others = static_cast<double>(store_->arity(c) - 1);
      asked.steps[asked.n++] = {
          c, tree_->position(c), 0, one && !rest ? 1 : others, false, whole, whole};
      if (rest || !one) ways *= rest ? 2 : others / 2 + 1;
    }
    Step& step = among ? *same : asked.steps[asked.n - 1];
    step.only = !rest;
    step.passing = !rest ? fraction : among ? rarer_[static_cast<std::size_t>(c)] : 1 - fraction;
    step.key = mixed(step.whole ^ key_of(condition.codes));
  }
  std::sort(asked.steps.begin(), asked.steps.begin() + static_cast<std::ptrdiff_t>(asked.n),
            [](const Step& a, const Step& b) { return a.position < b.position; });
  const auto bits = static_cast<std::size_t>(std::log2(std::max(cells, 1.0)));
  const std::size_t shape = ((std::min(std::max<std::size_t>(n, 1), kMostColumns) - 1) * kShapes +
                             std::min(bits, kShapes - 1)) *
                                2 +
                            !question.given.empty();
  asked.base[kScan] = read_cost(question, cells, matching);
  asked.base[kBitmaps] = bitmap_cost(question, cells);
  asked.base[kTree] = fits ? kCall + kCell * cells * ways : kInfinite;
  asked.shape = shape;
  return asked;
}

// What is not yet measured is taken for a bit cheaper, so that it is tried. Alone only.
void Planner::price(Asked& asked) const {
  for (const Kind kind : {kScan, kBitmaps, kTree}) {
    const Factor& own = by_shape_[kind][asked.shape];
    asked.cost[kind] = asked.base[kind] * (own.n ? own.value : kHope * overall_[kind].value);
  }
}

// Finds what the tree still needs. Unless it must be all, gives up (false) where the question's own
// subset alone would cost too much, and leaves that one as what is needed.
bool Planner::take_stock(Asked& asked, bool all) const {
  const auto m = static_cast<double>(store_->n_records());
  const double direct = std::min(asked.cost[kScan], asked.cost[kBitmaps]);
  asked.needs.clear();
  asked.growth = asked.uncovered = 0;
  const auto count = static_cast<std::uint32_t>(1) << asked.n;
  for (std::uint32_t subset = count - 1; subset > 0; --subset) {
    const auto last = static_cast<std::size_t>(std::bit_width(subset) - 1);
    double passing = 1, nodes = 1;
    std::uint64_t key = asked.steps[last].whole, whole = key;
    bool needed = true;
    for (std::size_t k = 0; k < last && needed; ++k) {
      const Step& step = asked.steps[k];
      if (!(subset >> k & 1)) {
        needed = !step.only;
        continue;
      }
      passing *= step.passing;
      nodes *= step.children;
      key += step.key;
      whole += step.whole;
    }
    if (!needed) continue;
    const Ledger::Entry* entry = ledger_.look(key | 1);
    if (entry && entry->grown) {
      if (subset == count - 1) return true;  // it has answered for all of them
      continue;
    }
    if (key != whole) {
      const Ledger::Entry* wider = ledger_.look(whole | 1);
      if (wider && wider->grown) continue;
    }
    const double cost =
        growing_.value * (kGrow * m * passing + kNode * std::min(nodes, m * passing));
    const double paid = entry ? static_cast<double>(entry->paid) : 0;
    asked.growth += cost;
    asked.uncovered += std::max(0.0, cost - paid);
    asked.needs.push_back({key | 1, cost});
    if (subset == count - 1 && !all && asked.cost[kTree] + asked.uncovered > direct) return false;
  }
  return true;
}

// Deciding

Planner::Kind Planner::pick(Asked& asked, bool batch, bool all) const {
  const Kind direct = asked.cost[kScan] <= asked.cost[kBitmaps] ? kScan : kBitmaps;
  const double room = asked.cost[direct] - asked.cost[kTree];
  if (room < 0) return direct;
  if (!take_stock(asked, all)) return direct;
  if (asked.needs.empty()) return kTree;
  return asked.uncovered <= (batch ? 0.01 * asked.growth : room) ? kTree : direct;
}

// In proportion to what is not yet paid. Alone only.
void Planner::pay(const Asked& asked, double amount) {
  if (amount <= 0 || asked.uncovered <= 0) return;
  const double part = std::min(1.0, amount / asked.uncovered);
  for (const Need& need : asked.needs) {
    Ledger::Entry& entry = ledger_.at(need.key);
    const double left = need.cost - static_cast<double>(entry.paid);
    if (left > 0 && entry.paid > kNever) entry.paid += static_cast<float>(part * left);
  }
}

Planner::Kind Planner::choose(Asked& asked, bool batch) {
  const std::lock_guard lock(mutex_);
  if (const std::int64_t evictions = tree_->evictions(); evictions != evictions_) {
    evictions_ = evictions;
    ledger_.clear();
  }
  price(asked);
  const Kind kind = pick(asked, batch, asked.n <= kAllSubsets || batch);
  if (kind != kTree && !batch)
    pay(asked, std::min(asked.cost[kScan], asked.cost[kBitmaps]) - asked.cost[kTree]);
  return kind;
}

void Planner::learn(const Asked& asked, Kind kind, double nanoseconds) {
  const std::lock_guard lock(mutex_);
  if (kind == kTree && asked.growth > 0) {
    const double grown = std::max(nanoseconds - asked.cost[kTree], 0.1 * nanoseconds);
    if (asked.growth > 0.5 * asked.cost[kTree])
      growing_.learn(growing_.value * grown / asked.growth);
    return;
  }
  const double ratio = nanoseconds / asked.base[kind];
  overall_[kind].learn(ratio);
  by_shape_[kind][asked.shape].learn(ratio);
}

void Planner::settle(const Asked& asked, bool grown) {
  if (asked.needs.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const Need& need : asked.needs) {
    Ledger::Entry& entry = ledger_.at(need.key);
    entry.grown = grown;
    if (!grown) entry.paid = kNever;  // there is no room for it, however often it is asked for
  }
}

// Answers, and learns from the time unless codes or bitmaps had to be made.
template <class Ask>
void Planner::timed(Asked& asked, Kind kind, const Ask& ask) {
  const std::int64_t made = bitmaps_->bytes();
  const double start = now();
  if (kind == kTree) {
    try {
      ask(kTree);
      settle(asked, true);
    } catch (const OverLimit&) {
      settle(asked, false);
      ask(kScan);
      return;
    }
  } else {
    ask(kind);
  }
  if (bitmaps_->bytes() == made || (kind == kTree && asked.growth > 0))
    learn(asked, kind, now() - start);
}

void Planner::answer(const Question& question, Asked& asked, Kind kind, Result out, Poll poll) {
  timed(asked, kind, [&](Kind engine) {
    if (engine == kScan)
      scan_->dense(question, out, poll);
    else if (engine == kBitmaps)
      bitmaps_->dense(question, out, poll);
    else
      tree_->dense(question, out, poll);
  });
}

void Planner::dense(const Question& question, Result out, Poll poll) {
  Asked asked = look_at(question);
  answer(question, asked, choose(asked, false), out, poll);
}

SparseCells Planner::sparse(const Question& question, Poll poll) {
  Asked asked = look_at(question);
  asked.base[kBitmaps] = kInfinite;  // which would list records, as the scan does
  SparseCells cells;
  timed(asked, choose(asked, false), [&](Kind engine) {
    cells = engine == kTree ? tree_->sparse(question, poll) : scan_->sparse(question, poll);
  });
  return cells;
}

void Planner::dense_many(const std::int64_t* columns, const std::int64_t* starts,
                         const std::int64_t* offsets, std::size_t n_sets,
                         const std::vector<Condition>& given, Result out, Poll poll) {
  Question question{{}, given};
  const auto set = [&](std::size_t k) {
    question.columns.assign(columns + starts[k], columns + starts[k + 1]);
  };
  Poller poller(poll);
  for (std::size_t k = 0; k < n_sets; ++k) {
    if (k % 256 == 0) poller.check();
    set(k);
    Asked asked = look_at(question);
    const std::lock_guard lock(mutex_);
    price(asked);
    const double saved = std::min(asked.cost[kScan], asked.cost[kBitmaps]) - asked.cost[kTree];
    if (saved <= 0) continue;
    take_stock(asked, true);
    pay(asked, saved);
  }
  for (std::size_t k = 0; k < n_sets; ++k) {
    set(k);
    Asked asked = look_at(question);
    const std::int64_t at = offsets[k];
    answer(question, asked, choose(asked, true),
           {out.counts ? out.counts + at : nullptr, out.sums ? out.sums + at : nullptr}, poll);
    poller.check();
  }
}

Planner::Costs Planner::plan(const Question& question) const {
  Asked asked = look_at(question);
  const std::lock_guard lock(mutex_);
  price(asked);
  const Kind kind = pick(asked, false, true);
  return {asked.cost[kScan], asked.cost[kBitmaps], asked.cost[kTree], asked.growth, kind};
}

}  // namespace tacit
