#include "records.hpp"

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
  void* p = std::malloc(bytes ? bytes : 1);
  if (!p) throw std::bad_alloc();
  return p;
}

void free_buffer(void* p) noexcept { std::free(p); }

}  // namespace tacit
