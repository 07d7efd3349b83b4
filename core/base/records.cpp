#include "base/records.hpp"

#include <cstdlib>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tacit {

void* allocate_buffer(std::size_t bytes) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
#ifdef __linux__
  if (bytes >= 2 * kHuge) {
    void* p = nullptr;
    if (posix_memalign(&p, kHuge, bytes) != 0) throw std::bad_alloc();
    madvise(p, bytes, MADV_HUGEPAGE);  // a hint: without it the pages are small, nothing else
    return p;
  }
#endif
  constexpr std::size_t kLine = 64;  // so that no vector straddles two cache lines
  void* const p = std::aligned_alloc(kLine, (bytes / kLine + 1) * kLine);
  if (!p) throw std::bad_alloc();
  return p;
}

void free_buffer(void* p) noexcept { std::free(p); }

}  // namespace tacit
