#include "near/block_grid.hpp"

#include <algorithm>

#include "bindings/common.hpp"

namespace tacit::bindings {
namespace {

using Coords = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

GridBox as_box(const Coords& coords, const In<double>& lower, const In<double>& upper,
               const In<std::int64_t>& resolution) {
  const std::size_t p = coords.shape(1);
  if (p < 1 || p > static_cast<std::size_t>(kMostDimensions) || lower.size() != p ||
      upper.size() != p || resolution.size() != p)
    throw std::invalid_argument("lower, upper and resolution must have one entry a dimension");
  return {lower.data(), upper.data(), resolution.data(), static_cast<int>(p)};
}

Array<std::int64_t> bind_keys(const Coords& coords, const In<double>& lower,
                              const In<double>& upper, const In<std::int64_t>& resolution,
                              int n_jobs) {
  const GridBox box = as_box(coords, lower, upper, resolution);
  const std::size_t n = coords.shape(0);
  Buffer<std::int64_t> keys(n);
  run([&] {
    grid_keys(box, coords.data(), static_cast<std::int64_t>(n), keys.data(), n_jobs,
              signal_pending);
  });
  return to_numpy(std::move(keys), {n});
}

Array<std::int32_t> bind_cells(const Coords& coords, const In<double>& lower,
                               const In<double>& upper, const In<std::int64_t>& resolution,
                               int n_jobs) {
  const GridBox box = as_box(coords, lower, upper, resolution);
  const std::size_t n = coords.shape(0), p = coords.shape(1);
  Buffer<std::int32_t> cells(n * p);
  run([&] {
    grid_cells(box, coords.data(), static_cast<std::int64_t>(n), cells.data(), n_jobs,
               signal_pending);
  });
  return to_numpy(std::move(cells), {n, p});
}

nb::tuple bind_sort(const In<std::int64_t>& keys) {
  BlockOrder blocks;
  const std::size_t n = keys.size();
  run([&] { blocks = sort_blocks(keys.data(), static_cast<std::int64_t>(n)); });
  return nb::make_tuple(copied(blocks.keys), copied(blocks.starts),
                        to_numpy(std::move(blocks.order), {n}));
}

nb::tuple bind_ranges(const In<std::int64_t>& row_keys, const In<std::int64_t>& column_keys,
                      const In<std::int64_t>& column_starts, const In<std::int64_t>& resolution) {
  if (column_starts.size() != column_keys.size() + 1)
    throw std::invalid_argument("column_starts must be one more than column_keys");
  if (resolution.size() < 1 || resolution.size() > static_cast<std::size_t>(kMostDimensions))
    throw std::invalid_argument("resolution must have one entry a dimension");
  NearRanges near;
  run([&] {
    near =
        near_ranges(row_keys.data(), static_cast<std::int64_t>(row_keys.size()), column_keys.data(),
                    column_starts.data(), static_cast<std::int64_t>(column_keys.size()),
                    resolution.data(), static_cast<int>(resolution.size()));
  });
  return nb::make_tuple(copied(near.pointer), copied(near.first), copied(near.last));
}

nb::tuple bind_split(const Coords& coords, const In<double>& lower, const In<double>& upper,
                     const In<std::int64_t>& resolution, std::int64_t crowded, int depth) {
  const GridBox box = as_box(coords, lower, upper, resolution);
  const std::size_t n = coords.shape(0);
  SplitBlocks split;
  run([&] {
    split = split_blocks(box, coords.data(), static_cast<std::int64_t>(n), crowded, depth,
                         signal_pending);
  });
  return nb::make_tuple(copied(split.blocks.keys), copied(split.blocks.starts),
                        to_numpy(std::move(split.blocks.order), {n}), copied(split.level),
                        copied(split.near.pointer), copied(split.near.first),
                        copied(split.near.last));
}

}  // namespace

void register_block_grid(nb::module_& m) {
  m.def("grid_keys", bind_keys, nb::arg("coords"), nb::arg("lower"), nb::arg("upper"),
        nb::arg("resolution"), nb::arg("n_jobs"),
        nb::sig("def grid_keys(coords: Floats, lower: Floats, upper: Floats, resolution: Ints, "
                "n_jobs: int) -> Ints"),
        "Number the block of each object.");
  m.def("grid_cells", bind_cells, nb::arg("coords"), nb::arg("lower"), nb::arg("upper"),
        nb::arg("resolution"), nb::arg("n_jobs"),
        nb::sig("def grid_cells(coords: Floats, lower: Floats, upper: Floats, resolution: Ints, "
                "n_jobs: int) -> Indices"),
        "Find the cell of each object in each dimension.");
  m.def("sort_blocks", bind_sort, nb::arg("keys"),
        nb::sig("def sort_blocks(keys: Ints) -> tuple[Ints, Ints, Indices]"),
        "Sort objects by block: the blocks' numbers, where each begins, and the objects.");
  m.def("near_ranges", bind_ranges, nb::arg("row_keys"), nb::arg("column_keys"),
        nb::arg("column_starts"), nb::arg("resolution"),
        nb::sig("def near_ranges(row_keys: Ints, column_keys: Ints, column_starts: Ints, "
                "resolution: Ints) -> tuple[Ints, Ints, Ints]"),
        "Find the ranges of sorted objects that are near each block.");
  m.def("split_blocks", bind_split, nb::arg("coords"), nb::arg("lower"), nb::arg("upper"),
        nb::arg("resolution"), nb::arg("crowded"), nb::arg("depth"),
        nb::sig("def split_blocks(coords: Floats, lower: Floats, upper: Floats, resolution: Ints, "
                "crowded: int, depth: int) "
                "-> tuple[Ints, Ints, Indices, Any, Ints, Ints, Ints]"),
        "Sort objects by block, cut crowded blocks, and find which of them touch.");
}

}  // namespace tacit::bindings
