#include "em/batch_body.hpp"

namespace tacit {

template BatchKernel<std::uint16_t, float> batch_kernel(std::int64_t);
template BatchKernel<std::uint32_t, float> batch_kernel(std::int64_t);

}  // namespace tacit
