#include "base/records.hpp"

#include <array>
#include <cstdlib>
#include <mutex>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tacit {
namespace {

constexpr std::size_t kHuge = std::size_t{2} << 20;
constexpr std::size_t kLine = 64;  // so that no vector straddles two cache lines

#ifdef __SANITIZE_ADDRESS__
constexpr bool kReuse = false;  // so that it sees whoever uses a buffer after it was freed
#else
constexpr bool kReuse = true;
#endif

// Before the data of each buffer, in a line of its own.
struct Header {
  std::size_t bytes;  // of header and data
};

// Buffers to be used again. An iterative method asks for the same few sizes in each step; what the
// system is given back in between it has to clear, page by page, which can take longer than the
// step. Small buffers the allocator keeps itself; large ones are not worth the memory.
class Kept {
 public:
  static constexpr std::size_t kLeast = std::size_t{1} << 17;
  static constexpr std::size_t kMost = kReuse ? std::size_t{16} << 20 : 0;

  void* take(std::size_t bytes) {
    // A child of a fork may find the lock taken for ever: never wait for it.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return nullptr;
    for (void*& slot : slots_)
      if (slot && static_cast<Header*>(slot)->bytes == bytes) {
        void* const found = slot;
        slot = nullptr;
        total_ -= bytes;
        return found;
      }
    return nullptr;
  }

  bool keep(void* p) {
    const std::size_t bytes = static_cast<Header*>(p)->bytes;
    if (bytes < kLeast || bytes > kMost) return false;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return false;
    // The oldest make room: sizes that are not asked for any more do not stay.
    while (total_ + bytes > kTotal || slots_[next_]) {
      drop(slots_[next_]);
      if (total_ + bytes <= kTotal) break;
      next_ = (next_ + 1) % slots_.size();
    }
    slots_[next_] = p;
    next_ = (next_ + 1) % slots_.size();
    total_ += bytes;
    return true;
  }

 private:
  static constexpr std::size_t kTotal = std::size_t{48} << 20;

  void drop(void*& slot) {
    if (!slot) return;
    total_ -= static_cast<Header*>(slot)->bytes;
    std::free(slot);
    slot = nullptr;
  }

  std::mutex mutex_;
  std::array<void*, 16> slots_{};
  std::size_t next_ = 0, total_ = 0;
};

Kept& kept() {
  static Kept* const buffers = new Kept;  // never destroyed: arrays may outlive all else
  return *buffers;
}

void* allocate(std::size_t bytes) {
#ifdef __linux__
  if (bytes >= 2 * kHuge) {
    void* p = nullptr;
    if (posix_memalign(&p, kHuge, bytes) != 0) return nullptr;
    madvise(p, bytes, MADV_HUGEPAGE);  // a hint: without it the pages are small, nothing else
    return p;
  }
#endif
  return std::aligned_alloc(kLine, bytes);
}

}  // namespace

void* allocate_buffer(std::size_t bytes) {
  bytes = (bytes / kLine + 2) * kLine;
  void* p = bytes >= Kept::kLeast && bytes <= Kept::kMost ? kept().take(bytes) : nullptr;
  if (!p) p = allocate(bytes);
  if (!p) throw std::bad_alloc();
  static_cast<Header*>(p)->bytes = bytes;
  return static_cast<char*>(p) + kLine;
}

void free_buffer(void* p) noexcept {
  if (!p) return;
  void* const all = static_cast<char*>(p) - kLine;
  if (!kept().keep(all)) std::free(all);
}

}  // namespace tacit
