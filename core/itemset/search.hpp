// The depth-first search below one item.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/parallel.hpp"
#include "itemset/collector.hpp"
#include "itemset/earlier.hpp"
#include "itemset/projection.hpp"

namespace tacit {

class ItemsetSearch {
 public:
  explicit ItemsetSearch(MineLimits& limits)
      : limits_(limits),
        kind_(limits.options.kind),
        count_rows_(count_rows()),
        compress_row_(compress_row()),
        find_words_(mask_words()) {}

  // All sets whose first item is `rank`, besides `base` and any of `extra`, which are in all
  // records.
  void branch(const Projection& root, std::int64_t rank, const std::vector<std::uint32_t>& base,
              const std::vector<std::uint32_t>& extra, Collector& out, StopToken& token);

 private:
  struct Ranked {
    std::int64_t rank, count;
  };
  // What there is beside an item: ranks in its parent.
  struct Step {
    std::vector<Ranked> before, behind;  // frequent, but not in all of its records
    std::vector<std::int64_t> implied;   // behind it, and in all of its records
    std::vector<std::size_t> pushed;     // where items were put into base_
  };

  void visit(const Projection& parent, std::int64_t rank, std::size_t depth);
  void search(const Projection& node, std::size_t depth);
  // False if the closed sets here were found elsewhere: an item before this one is in all records.
  bool look(const Projection& parent, std::int64_t rank, Step& step);
  void look_at_rows(const Projection& parent, std::int64_t rank, Step& step);
  bool look_at_lists(const Projection& parent, std::int64_t rank, Step& step);
  bool sort_in(std::int64_t j, std::int64_t rank, std::int64_t both, std::int64_t total,
               Step& step) const;
  bool found_before(const Projection& parent, std::int64_t rank);
  void count(const Projection& parent, std::int64_t rank, std::int64_t first, std::int64_t end);
  bool extensible_before(const Projection& parent, std::int64_t rank);
  void project_lists(const Projection& parent, std::int64_t rank, const Step& step,
                     Projection& child);
  void project_rows(const Projection& parent, std::int64_t rank, Step& step, Projection& child);
  void shrink_origins(const Projection& parent, std::int64_t n_mask, Projection& child);
  std::int64_t common_suffix(const Projection& node);
  std::size_t push(std::uint32_t item);
  void take_back(const Step& step, std::size_t n_extra);

  MineLimits& limits_;
  const ItemsetKind kind_;
  const CountRows count_rows_;
  const CompressRow compress_row_;
  const MaskWords find_words_;
  EarlierItems earlier_;
  Collector* out_ = nullptr;
  Meter* meter_ = nullptr;
  std::deque<Projection> levels_;
  std::deque<Step> steps_;
  std::vector<std::uint32_t> base_, extra_;  // the set so far; other items in all its records
  std::vector<std::int64_t> counts_;         // by rows
  std::vector<std::int64_t> tallies_;        // by lists: zero between calls
  std::vector<std::uint32_t> renamed_;       // new ranks: kDropped between calls
  std::vector<std::int64_t> seen_, record_weights_;
  std::vector<std::uint64_t> masks_, common_;
  Scratch<MaskWord> mask_words_;
};

}  // namespace tacit
