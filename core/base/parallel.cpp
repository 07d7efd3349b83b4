#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace tacit {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPollEvery = std::chrono::milliseconds(20);

using Body = std::function<void(std::int64_t, StopToken&)>;

struct Stopped {};  // thrown inside a block that another thread's failure has made pointless

class BlockRunner {
 public:
  BlockRunner(std::int64_t n_blocks, Poll poll, const Body& body)
      : n_blocks_(n_blocks), poll_(poll), body_(body), last_poll_(Clock::now()) {}

  // What every thread does: take the next block until none is left or somebody stopped the work.
  void work(bool calling_thread) {
    RunnerToken token(*this, calling_thread);
    try {
      for (;;) {
        token.check();
        const std::int64_t block = next_.fetch_add(1, std::memory_order_relaxed);
        if (block >= n_blocks_) return;
        body_(block, token);
      }
    } catch (const Stopped&) {
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_ = true;
    }
  }

  void started() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++running_;
  }

  void left() {
    const std::lock_guard<std::mutex> lock(mutex_);
    --running_;
    all_left_.notify_one();
  }

  // The calling thread has no block left: wait for the others, still listening for Ctrl-C.
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (running_ > 0) {
      all_left_.wait_for(lock, kPollEvery);
      if (running_ > 0 && !stop_ && poll_) {
        lock.unlock();
        try {
          ask();
        } catch (...) {
          lock.lock();
          if (!error_) error_ = std::current_exception();
          stop_ = true;
          continue;
        }
        lock.lock();
      }
    }
  }

  void rethrow() {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  class RunnerToken final : public StopToken {
   public:
    RunnerToken(BlockRunner& runner, bool calling_thread)
        : runner_(runner), calling_thread_(calling_thread) {}
    void check() override {
      if (runner_.stop_.load(std::memory_order_relaxed)) throw Stopped();
      if (calling_thread_) runner_.ask();
    }

   private:
    BlockRunner& runner_;
    const bool calling_thread_;
  };

  void ask() {
    const auto now = Clock::now();
    if (!poll_ || now - last_poll_ < kPollEvery) return;
    last_poll_ = now;
    if (poll_()) throw Interrupted();
  }

  const std::int64_t n_blocks_;
  const Poll poll_;
  const Body& body_;
  Clock::time_point last_poll_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable all_left_;
  int running_ = 0;
  std::exception_ptr error_;
};

}  // namespace

void for_blocks(std::int64_t n_blocks, int n_jobs, Poll poll, const Body& body) {
  BlockRunner runner(n_blocks, poll, body);
  const std::int64_t helpers = std::min<std::int64_t>(n_jobs, n_blocks) - 1;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(std::max<std::int64_t>(helpers, 0)));
  for (std::int64_t t = 0; t < helpers; ++t) {
    runner.started();
    try {
      threads.emplace_back([&runner] {
        runner.work(false);
        runner.left();
      });
    } catch (const std::exception&) {  // no more threads to be had: fewer will do
      runner.left();
      break;
    }
  }
  runner.work(true);
  runner.wait();
  for (auto& thread : threads) thread.join();
  runner.rethrow();
}

}  // namespace tacit
