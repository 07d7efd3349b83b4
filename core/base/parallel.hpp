// Deterministic block parallelism, used by every kernel.
//
// Work is cut into blocks by the caller; threads are started for the call and joined before it
// returns, so nothing survives into a fork. Which thread runs a block is left open: a kernel keeps
// its answer independent of that by giving each block its own output, or by merging in block order.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>

namespace tacit {

// Asked now and then, on the calling thread only: true means "stop" (Ctrl-C was pressed).
using Poll = bool (*)();

struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

// Handed to each block. A block that may run for more than a few dozen milliseconds calls check()
// now and then, so that an interruption or a failure elsewhere ends it early.
class StopToken {
 public:
  virtual ~StopToken() = default;
  virtual void check() = 0;
};

// For long work on the calling thread alone: asks now and then, by the clock, whether to stop.
class Poller {
 public:
  explicit Poller(Poll poll) : poll_(poll), asked_(Clock::now()) {}
  void check() {
    if (!poll_ || Clock::now() - asked_ < std::chrono::milliseconds(50)) return;
    asked_ = Clock::now();
    if (poll_()) throw Interrupted();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Poll poll_;
  Clock::time_point asked_;
};

// Checks once for every few milliseconds of work, given how many simple steps are done.
class Meter {
 public:
  explicit Meter(StopToken& token) : token_(token) {}
  void spend(std::int64_t steps) {
    left_ -= steps;
    if (left_ < 0) {
      token_.check();
      left_ = kSteps;
    }
  }

 private:
  static constexpr std::int64_t kSteps = 1 << 22;
  StopToken& token_;
  std::int64_t left_ = kSteps;
};

// Runs body(0, token), …, body(n_blocks - 1, token), each once, on at most n_jobs threads. The
// first exception thrown by a block stops the rest and is rethrown here; Interrupted is thrown when
// poll says so.
void for_blocks(std::int64_t n_blocks, int n_jobs, Poll poll,
                const std::function<void(std::int64_t, StopToken&)>& body);

// The half-open range of block b when n items are cut into n_blocks nearly equal parts.
struct Range {
  std::int64_t begin, end;
};
inline Range block_range(std::int64_t n, std::int64_t n_blocks, std::int64_t b) {
  const std::int64_t size = n / n_blocks, rest = n % n_blocks;
  const std::int64_t begin = b * size + (b < rest ? b : rest);
  return {begin, begin + size + (b < rest ? 1 : 0)};
}

}  // namespace tacit
