#include "net/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "net/grow_shrink.hpp"

namespace tacit {
namespace {

using Clock = std::chrono::steady_clock;

struct OutOfTime {};

// Small, and the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_;
};

enum class Kind { kNone, kAdd, kRemove, kTurn };

struct Move {
  Kind kind = Kind::kNone;
  int from = 0, to = 0;
  double gain = 0;
};

struct Position {
  NetGraph graph;
  double score;
};

// What the search does next.
enum class Stage { kStart, kShake, kClimb, kOrder, kWalk, kSwap, kBeyond, kDone, kEnd };

// A column with the parents that it takes of those before it.
struct Ordered {
  double score;
  Reasons reasons;
};

// Where the search is: from here, it can go on, and again.
struct State {
  Stage stage;
  Position here, best;
  Dice dice;
  std::int64_t restart = 0, fruitless = 0, n_moves = 0;
  std::vector<NetProgress> trace;
  // Of the search over orders: who comes before whom, who moves next, how many have not moved since
  // the last that has, and the score that it came to.
  std::vector<int> order;
  std::vector<Ordered> families;  // of each column in this order
  bool shaken = false;            // whether the order began anew
  std::size_t turn = 0, n_still = 0;
  double ordered = -std::numeric_limits<double>::infinity();
};

class Search {
 public:
  Search(NetFamilies& families, FetchedFamilies* fetched, const std::vector<Parents>& start,
         const NetRules& rules, Poll poll, const std::function<void(const NetProgress&)>& tell)
      : families_(families),
        fetched_(fetched),
        rules_(rules),
        poll_(poll),
        tell_(tell),
        poller_(poll),
        n_(families.columns().n_columns()),
        begun_(Clock::now()),
        state_{Stage::kStart,
               {NetGraph(start), 0},
               {NetGraph(start), 0},
               Dice(rules.seed),
               0,
               0,
               0,
               {},
               {},
               {},
               false,
               0,
               0,
               -std::numeric_limits<double>::infinity()},
        grow_shrink_(families, rules.max_parents, rules.forbidden, rules.required) {
    noise_ = families.noise();
  }

  NetResult run() {
    NetResult result;
    try {
      while (state_.stage != Stage::kEnd) fetched_ ? step_with_fetches() : step();
    } catch (const Interrupted&) {
      result.interrupted = true;
    } catch (const OutOfTime&) {
      result.out_of_time = true;
    }
    if (fetched_) fetched_->set_mode(FetchedFamilies::Mode::kFetch);
    for (int x = 0; x < n_ && !result.interrupted; ++x)
      result.family_scores.push_back(families_.score(x, best_.graph.parents(x)));
    result.parents = best_.graph.all();
    result.score = best_.score;
    result.n_scored = families_.n_scored();
    result.n_moves = n_moves_;
    result.trace = std::move(trace_);
    return result;
  }

 private:
  void step() {
    switch (state_.stage) {
      case Stage::kStart:
        prepare();
        here_.score = score_of(here_.graph);
        best_ = here_;
        state_.stage = Stage::kClimb;
        break;
      case Stage::kShake:
        here_ = best_;
        state_.ordered = -std::numeric_limits<double>::infinity();
        visited_.clear();
        if (rules_.orders && state_.restart % 2 == 0) {
          shake_order();
          state_.stage = Stage::kOrder;
        } else {
          shake();
          state_.stage = Stage::kClimb;
        }
        break;
      case Stage::kClimb:
        if (climb_step()) break;
        state_.stage =
            rules_.orders && here_.score > state_.ordered + least() ? Stage::kOrder : Stage::kWalk;
        if (state_.stage == Stage::kOrder) start_order();
        break;
      case Stage::kOrder:
        if (order_step()) break;
        state_.stage = take_order()    ? Stage::kClimb
                       : state_.shaken ? Stage::kDone  // all else was tried from there
                                       : Stage::kWalk;
        state_.ordered = here_.score;
        break;
      case Stage::kWalk:
        if (state_.fruitless < rules_.walks)
          state_.fruitless = walk() ? 0 : state_.fruitless + 1;
        else
          state_.stage = Stage::kSwap;
        break;
      case Stage::kSwap:
        go_on_if(rules_.swaps && swap(), Stage::kBeyond);
        break;
      case Stage::kBeyond:
        go_on_if(rules_.tabu > 0 && here_.score >= best_.score - least() && climb_beyond(),
                 Stage::kDone);
        break;
      case Stage::kDone:
        keep_if_better();
        if (families_.forget_if_large()) grow_shrink_.forget();
        note(state_.restart++);
        state_.stage =
            state_.restart > rules_.restarts || is_fruitless() ? Stage::kEnd : Stage::kShake;
        break;
      case Stage::kEnd:
        break;
    }
    if (state_.stage == Stage::kClimb) state_.fruitless = 0;
  }

  bool is_fruitless() const {
    return rules_.patience > 0 && state_.restart > trace_.back().restart + rules_.patience;
  }

  void go_on_if(bool better, Stage otherwise) {
    state_.stage = better ? Stage::kWalk : otherwise;
    state_.fruitless = 0;
  }

  // A step with what has been fetched; as long as something is missing, the search runs ahead on
  // guesses to see what else it will want, and all of that is fetched.
  void step_with_fetches() {
    const State before = state_;
    for (;;) {
      fetched_->set_mode(FetchedFamilies::Mode::kStrict);
      try {
        step();
        return;
      } catch (const NetMissing&) {
      }
      const Position best = best_;  // for sure, if time is up in what follows
      state_ = before;
      fetched_->set_mode(FetchedFamilies::Mode::kGuess);
      grow_shrink_.forget();  // what is guessed must not be taken for known
      try {
        run_ahead();
        if (!fetched_->n_noted())
          throw std::logic_error("the search wants what it does not ask for");
        state_ = before;
        best_ = best;
        grow_shrink_.forget();
        fetched_->fetch_noted();
        check();
      } catch (...) {
        state_ = before;
        best_ = best;
        throw;
      }
      state_ = before;
    }
  }

  void run_ahead() {
    n_stale_steps_ = 0;
    n_steps_ahead_ = 0;
    n_noted_ = 0;
    visited_.clear();
    try {
      while (state_.stage != Stage::kEnd) step();
    } catch (const NetEnough&) {
    }
  }

  // Guessed ways may go round in circles, and known ones may lead nowhere new.
  void count_step_ahead() {
    if (fetched_->n_noted() > n_noted_) n_stale_steps_ = 0;
    n_noted_ = fetched_->n_noted();
    const double all = 1.0 * static_cast<double>(++n_steps_ahead_) * n_ * n_;
    if (++n_stale_steps_ > kMostStaleSteps || all > kMostAhead) throw NetEnough();
  }

  bool guesses() const { return fetched_ && fetched_->guesses(); }
  bool knows(int x, const Parents& parents) const {
    return !guesses() || fetched_->knows(x, parents);
  }

  // Gains below this are rounding: scores are small differences of sums as large as n log n, and
  // what is no gain must not be taken for one, or the search would go round in circles.
  double least() const { return std::fmax(1e-9 * std::fmax(1.0, std::fabs(here_.score)), noise_); }

  // Of moves that are as good as each other, such as adding an arc one way or the other, the first
  // is taken, however their scores were rounded.
  bool is_better(const Move& move, const Move& best) const {
    return best.kind == Kind::kNone ? move.gain > best.gain : move.gain > best.gain + noise_;
  }

  void check() {
    poller_.check();
    if (rules_.max_seconds > 0 && seconds() > rules_.max_seconds) throw OutOfTime();
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  void prepare() {
    std::vector<std::pair<int, Parents>> wanted;
    for (int x = 0; x < n_; ++x) wanted.emplace_back(x, here_.graph.parents(x));
    families_.prepare(wanted, rules_.n_jobs, poll_);
  }

  double score_of(const NetGraph& graph) {
    double sum = 0;
    for (int x = 0; x < graph.size(); ++x) sum += families_.score(x, graph.parents(x));
    return sum;
  }

  void note(std::int64_t restart) {
    const NetProgress now{restart, families_.n_scored(), best_.score, seconds()};
    if (trace_.empty() || now.score > trace_.back().score) trace_.push_back(now);
    if (!guesses()) tell_(now);
  }

  bool may(int from, int to) const {
    return !rules_.forbidden[static_cast<std::size_t>(from) * static_cast<std::size_t>(n_) +
                             static_cast<std::size_t>(to)];
  }
  bool must(int from, int to) const {
    return rules_.required[static_cast<std::size_t>(from) * static_cast<std::size_t>(n_) +
                           static_cast<std::size_t>(to)];
  }
  bool has_room(int x) const {
    return static_cast<int>(here_.graph.parents(x).size()) < rules_.max_parents;
  }

  // Calls see(move) for every move that is legal from here.
  template <class See>
  void for_moves(const See& see) {
    if (guesses()) count_step_ahead();
    near_.clear();
    for (int x = 0; x < n_; ++x) near_.push_back(&families_.family(x, here_.graph.parents(x)));
    for (int to = 0; to < n_; ++to) {
      const Parents& parents = here_.graph.parents(to);
      const NetFamily& family = *near_[static_cast<std::size_t>(to)];
      if (has_room(to))
        for (int from = 0; from < n_; ++from)
          if (from != to && may(from, to) && here_.graph.can_add(from, to) &&
              !here_.graph.has(from, to))
            see(Move{Kind::kAdd, from, to,
                     family.with[static_cast<std::size_t>(from)] - family.score});
      for (std::size_t k = 0; k < parents.size(); ++k) {
        const int from = parents[k];
        if (must(from, to)) continue;
        const double loss = family.without[k] - family.score;
        see(Move{Kind::kRemove, from, to, loss});
        if (!may(to, from) || !has_room(from) || !here_.graph.can_turn(from, to)) continue;
        const NetFamily& other = *near_[static_cast<std::size_t>(from)];
        see(Move{Kind::kTurn, from, to,
                 loss + other.with[static_cast<std::size_t>(to)] - other.score});
      }
    }
  }

  void make(const Move& move) {
    if (move.kind == Kind::kAdd) here_.graph.add(move.from, move.to);
    if (move.kind == Kind::kRemove) here_.graph.remove(move.from, move.to);
    if (move.kind == Kind::kTurn) here_.graph.turn(move.from, move.to);
    here_.score += move.gain;
    ++n_moves_;
  }

  void keep_if_better() {
    if (here_.score > best_.score + least()) best_ = here_;
  }

  // Whether all scores of the net are known, and not only what its last change gained.
  bool is_counted() const {
    if (!fetched_ || guesses()) return true;
    for (int x = 0; x < n_; ++x)
      if (!fetched_->knows(x, here_.graph.parents(x))) return false;
    return true;
  }

  bool climb_step() {
    if (is_counted()) keep_if_better();  // at every step: what is found when time is up is not lost
    check();
    Move best;
    for_moves([&](const Move& move) {
      if (is_better(move, best)) best = move;
    });
    if (best.kind == Kind::kNone || best.gain <= least()) return false;
    make(best);
    return !guesses() || is_new_here();
  }

  // Scores that rise at every step lead nowhere twice; guesses of them may.
  bool is_new_here() {
    NetKey graph;
    for (const Parents& parents : here_.graph.all()) {
      graph.push_back(-1);
      graph.insert(graph.end(), parents.begin(), parents.end());
    }
    return visited_.try_emplace(std::move(graph), true).second;
  }

  void climb() {
    visited_.clear();
    while (climb_step()) {
    }
  }

  // Goes on from the top, downhill where it must, but never back the way it came.
  bool climb_beyond() {
    const double before = best_.score;
    std::vector<std::int64_t> closed(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_),
                                     -1);
    const auto pair = [&](const Move& move) {
      return static_cast<std::size_t>(std::min(move.from, move.to)) * static_cast<std::size_t>(n_) +
             static_cast<std::size_t>(std::max(move.from, move.to));
    };
    std::int64_t fruitless = 0;
    for (std::int64_t step = 0; fruitless < rules_.tabu; ++step) {
      check();
      Move best;
      best.gain = -std::numeric_limits<double>::infinity();
      for_moves([&](const Move& move) {
        const bool open =
            closed[pair(move)] < step || here_.score + move.gain > best_.score + least();
        if (open && is_better(move, best)) best = move;
      });
      if (best.kind == Kind::kNone) break;
      closed[pair(best)] = step + kTenure + static_cast<std::int64_t>(dice_.below(kTenure));
      make(best);
      if (here_.score > best_.score + least()) {
        best_ = here_;
        fruitless = 0;
      } else {
        ++fruitless;
      }
    }
    here_ = best_;
    return best_.score > before;
  }

  // Walks among nets that say the same as this one, by turning covered arcs, and climbs from there.
  bool walk() {
    const Position before = here_;
    const std::size_t length = 1 + dice_.below(static_cast<std::size_t>(2 * n_));
    for (std::size_t step = 0; step < length; ++step) {
      std::vector<std::pair<int, int>> covered;
      for (int to = 0; to < n_; ++to)
        for (const int from : here_.graph.parents(to))
          if (may(to, from) && !must(from, to) && here_.graph.is_covered(from, to))
            covered.emplace_back(from, to);
      if (covered.empty()) break;
      const auto [from, to] = covered[dice_.below(covered.size())];
      here_.graph.turn(from, to);
      check();
    }
    here_.score = score_of(here_.graph);
    const double level = here_.score;
    climb();
    if (here_.score < before.score - least()) here_ = before;
    return std::fmax(here_.score, level) > before.score + least();
  }

  // Begins with an order in which the present net's arcs point forwards.
  void start_order() {
    state_.order.clear();
    state_.families.clear();
    state_.shaken = false;
    state_.turn = state_.n_still = 0;
    std::vector<int> waiting;
    for (int x = 0; x < n_; ++x) waiting.push_back(static_cast<int>(here_.graph.parents(x).size()));
    std::vector<int> ready;
    for (int x = 0; x < n_; ++x)
      if (waiting[static_cast<std::size_t>(x)] == 0) ready.push_back(x);
    while (!ready.empty()) {
      const std::size_t k = dice_.below(ready.size());
      const int next = ready[k];
      ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(k));
      state_.order.push_back(next);
      for (int x = 0; x < n_; ++x)
        if (here_.graph.has(next, x) && --waiting[static_cast<std::size_t>(x)] == 0)
          ready.push_back(x);
    }
  }

  struct Without {
    std::vector<int> others;
    std::size_t from, first, last;  // where the column is, and may be
  };
  Without without(int moving) const {
    Without result{{}, 0, 0, static_cast<std::size_t>(n_) - 1};
    for (const int x : state_.order) {
      if (x == moving) {
        result.from = result.others.size();
        continue;
      }
      if (must(x, moving)) result.first = result.others.size() + 1;
      if (must(moving, x)) result.last = std::min(result.last, result.others.size());
      result.others.push_back(x);
    }
    return result;
  }

  // Moves some columns to anywhere in the order.
  void shake_order() {
    start_order();
    state_.shaken = true;
    const std::size_t moves =
        2 + dice_.below(static_cast<std::size_t>(2 + std::min(n_ / 4, kMostMoved)));
    for (std::size_t k = 0; k < moves; ++k) {
      const int moving = static_cast<int>(dice_.below(static_cast<std::size_t>(n_)));
      auto [others, from, first, last] = without(moving);
      const std::size_t to = first + dice_.below(last - first + 1);
      others.insert(others.begin() + static_cast<std::ptrdiff_t>(to), moving);
      state_.order = std::move(others);
    }
  }

  // Moves the next column to where it is best in the order; false when none has moved for a round.
  bool order_step() {
    check();
    if (guesses()) count_step_ahead();
    std::vector<int>& order = state_.order;
    const auto n = static_cast<std::size_t>(n_);
    if (state_.n_still >= n) return false;
    const int moving = static_cast<int>(state_.turn++ % n);
    ++state_.n_still;
    auto [others, from, first, last] = without(moving);
    if (state_.families.empty()) {
      ColumnSet before(n_);
      state_.families.resize(n, {0, {ColumnSet(n_), ColumnSet(n_)}});
      for (const int x : order) {
        grow(x, before);
        before.add(x);
      }
    }
    // What the others score with it before them and without; most do not care.
    ColumnSet before(n_);
    std::vector<double> alone(n), as_parent(n), own(n);
    Ordered mine{0, {ColumnSet(n_), ColumnSet(n_)}};
    for (std::size_t k = 0; k < n; ++k) {
      if (k == 0 || mine.reasons.wanted.has(others[k - 1]))
        mine.score = grow_shrink_.best(moving, before, &mine.reasons).score;
      own[k] = mine.score;
      if (k + 1 == n) break;
      const Ordered& other = state_.families[static_cast<std::size_t>(others[k])];
      alone[k] = as_parent[k] = other.score;
      if (k >= from && other.reasons.used.has(moving)) {
        alone[k] = grow_shrink_.best(others[k], before).score;
      } else if (k < from && other.reasons.wanted.has(moving)) {
        before.add(moving);
        as_parent[k] = grow_shrink_.best(others[k], before).score;
        before.remove(moving);
      }
      before.add(others[k]);
    }
    std::vector<double> total(n, own[0]);
    for (std::size_t k = 0; k + 1 < n; ++k) total[0] += as_parent[k];
    for (std::size_t k = 0; k + 1 < n; ++k)
      total[k + 1] = total[k] + alone[k] - as_parent[k] + own[k + 1] - own[k];
    std::size_t to = from;
    double gain = least();
    for (std::size_t k = first; k <= last; ++k)
      if (total[k] - total[from] > (to == from ? gain : gain + noise_)) {
        gain = total[k] - total[from];
        to = k;
      }
    if (to == from) return true;
    others.insert(others.begin() + static_cast<std::ptrdiff_t>(to), moving);
    order = std::move(others);
    before = ColumnSet(n_);
    for (std::size_t k = 0; k <= std::max(from, to); ++k) {
      const int x = order[k];
      const Reasons& why = state_.families[static_cast<std::size_t>(x)].reasons;
      const bool cares = to > from ? why.used.has(moving) : why.wanted.has(moving);
      if (x == moving || (k >= std::min(from, to) && cares)) grow(x, before);
      before.add(x);
    }
    state_.n_still = 0;
    ++n_moves_;
    return true;
  }

  void grow(int x, const ColumnSet& before) {
    Ordered& family = state_.families[static_cast<std::size_t>(x)];
    family.score = grow_shrink_.best(x, before, &family.reasons).score;
  }

  // Takes the net of the order if that is better.
  bool take_order() {
    ColumnSet before(n_);
    std::vector<Parents> parents(static_cast<std::size_t>(n_));
    double score = 0;
    for (const int x : state_.order) {
      const Grown& grown = grow_shrink_.best(x, before);
      score += grown.score;
      parents[static_cast<std::size_t>(x)] = grown.parents;
      before.add(x);
    }
    if (score <= here_.score + least()) return false;
    here_ = {NetGraph(std::move(parents)), score};
    return true;
  }

  // Lets neighbours change places where that is better.
  bool swap() {
    for (int b = 0; b < n_; ++b)
      for (const int a : Parents(here_.graph.parents(b))) {
        const auto changed = here_.graph.swapped(a, b);
        double gain = 0;
        bool legal = true, sure = true;
        for (int x = 0; x < n_ && legal; ++x) {
          const Parents& now = changed[static_cast<std::size_t>(x)];
          if (now == here_.graph.parents(x)) continue;
          for (const int p : now) legal = legal && may(p, x);
          for (const int p : here_.graph.parents(x))
            legal = legal && (!must(p, x) || std::binary_search(now.begin(), now.end(), p));
          if (legal) gain += families_.score(x, now) - families_.score(x, here_.graph.parents(x));
          sure = sure && knows(x, now) && knows(x, here_.graph.parents(x));
        }
        check();
        if (!legal || !sure || gain <= least()) continue;  // guesses of it are not good enough
        here_.graph = NetGraph(changed);
        here_.score += gain;
        ++n_moves_;
        climb();
        return true;
      }
    return false;
  }

  // Moves at random, whatever they cost.
  void shake() {
    const std::size_t moves =
        5 + dice_.below(static_cast<std::size_t>(5 + std::min(n_, kMostShaken)));
    for (std::size_t k = 0; k < moves; ++k) {
      // Adding has many more ways than removing: first the kind, then the arc.
      const Kind kind = static_cast<Kind>(1 + dice_.below(3));
      std::vector<std::pair<int, int>> arcs;
      for (int to = 0; to < n_; ++to) {
        for (const int from : here_.graph.parents(to))
          if (!must(from, to) &&
              (kind == Kind::kRemove || (kind == Kind::kTurn && may(to, from) && has_room(from) &&
                                         here_.graph.can_turn(from, to))))
            arcs.emplace_back(from, to);
        if (kind != Kind::kAdd || !has_room(to)) continue;
        for (int from = 0; from < n_; ++from)
          if (from != to && may(from, to) && here_.graph.can_add(from, to) &&
              !here_.graph.has(from, to))
            arcs.emplace_back(from, to);
      }
      if (arcs.empty()) continue;
      const auto [from, to] = arcs[dice_.below(arcs.size())];
      // A net must not get into a family whose table could not be counted.
      const int gaining = kind == Kind::kAdd ? to : from, gained = kind == Kind::kAdd ? from : to;
      if (kind != Kind::kRemove) {
        Parents more = here_.graph.parents(gaining);
        more.insert(std::lower_bound(more.begin(), more.end(), gained), gained);
        if (!std::isfinite(families_.score(gaining, more))) continue;
      }
      make({kind, from, to, 0});
      check();
    }
    here_.score = score_of(here_.graph);
  }

  static constexpr std::int64_t kTenure = 8;
  static constexpr int kMostShaken = 60;
  static constexpr int kMostMoved = 10;
  static constexpr int kMostStaleSteps = 200;  // ahead, that find nothing to be fetched
  static constexpr double kMostAhead = 3e8;    // moves that are looked at ahead

  NetFamilies& families_;
  FetchedFamilies* fetched_;  // the same, if counts have to be fetched
  const NetRules& rules_;
  Poll poll_;
  const std::function<void(const NetProgress&)>& tell_;
  Poller poller_;
  int n_;
  Clock::time_point begun_;
  State state_;
  Position& here_ = state_.here;
  Position& best_ = state_.best;
  Dice& dice_ = state_.dice;
  std::int64_t& n_moves_ = state_.n_moves;
  std::vector<NetProgress>& trace_ = state_.trace;
  GrowShrink grow_shrink_;
  double noise_;
  std::vector<const NetFamily*> near_;  // those of the net that is looked at
  std::size_t n_noted_ = 0;
  NetMap<bool> visited_;  // nets that a guessed climb came through
  int n_stale_steps_ = 0;
  std::int64_t n_steps_ahead_ = 0;
};

}  // namespace

NetResult find_net(NetFamilies& families, const std::vector<Parents>& start, const NetRules& rules,
                   Poll poll, const std::function<void(const NetProgress&)>& tell) {
  families.set_max_parents(rules.max_parents);
  auto* const fetched = dynamic_cast<FetchedFamilies*>(&families);
  if (fetched) fetched->start(start);
  return Search(families, fetched, start, rules, poll, tell).run();
}

}  // namespace tacit
