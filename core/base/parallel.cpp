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

using Body = std::function<void(std::int64_t, Pulse&)>;

struct Stopped {};  // thrown inside a block that another thread's failure has made pointless

class Crew {
 public:
  Crew(std::int64_t n_blocks, Poll poll, const Body& body)
      : n_blocks_(n_blocks), poll_(poll), body_(body), last_poll_(Clock::now()) {}

  // What every thread does: take the next block until none is left or somebody stopped the work.
  void work(bool calling_thread) {
    CrewPulse pulse(*this, calling_thread);
    try {
      for (;;) {
        pulse.beat();
        const std::int64_t block = next_.fetch_add(1, std::memory_order_relaxed);
        if (block >= n_blocks_) return;
        body_(block, pulse);
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
  class CrewPulse final : public Pulse {
   public:
    CrewPulse(Crew& crew, bool calling_thread) : crew_(crew), calling_thread_(calling_thread) {}
    void beat() override {
      if (crew_.stop_.load(std::memory_order_relaxed)) throw Stopped();
      if (calling_thread_) crew_.ask();
    }

   private:
    Crew& crew_;
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
  Crew crew(n_blocks, poll, body);
  const std::int64_t helpers = std::min<std::int64_t>(n_jobs, n_blocks) - 1;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(std::max<std::int64_t>(helpers, 0)));
  for (std::int64_t t = 0; t < helpers; ++t) {
    crew.started();
    try {
      threads.emplace_back([&crew] {
        crew.work(false);
        crew.left();
      });
    } catch (const std::exception&) {  // no more threads to be had: fewer will do
      crew.left();
      break;
    }
  }
  crew.work(true);
  crew.wait();
  for (auto& thread : threads) thread.join();
  crew.rethrow();
}

}  // namespace tacit
