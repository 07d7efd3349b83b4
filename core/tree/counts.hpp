// Counts of a leaf's stored values against the target: all ids for large leaves, by subtraction
// where a sibling is counted, and only the ids that occur for small ones.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "tree/members.hpp"
#include "tree/search.hpp"

namespace tacit {

template <class V, class T>
class TreeCounts {
 public:
  TreeCounts(const TreeTable<V>& table, const TreeTarget& target, std::int64_t n_stats,
             const std::int64_t* pairs, bool timed, TreeScratch& scratch, Meter& meter)
      : table_(table),
        target_(target),
        pairs_(pairs),
        s_(scratch),
        meter_(meter),
        timed_(timed),
        n_values_(table.records.n_values),
        n_stats_(n_stats),
        stride_((n_values_ + 3) / 4 * 4) {
    const std::int64_t m = table.records.n_records;
    mean_length_ = m ? static_cast<double>(table.records.indptr[m]) / static_cast<double>(m) : 0.0;
    if (static_cast<std::int64_t>(s_.slot_of.size()) < n_values_)
      s_.slot_of.assign(static_cast<std::size_t>(n_values_), -1);
  }

  // Histograms of all ids, zero at first.
  struct Histograms {
    std::unique_ptr<T[]> data;
    explicit operator bool() const { return static_cast<bool>(data); }
  };
  bool entries() const { return n_stats_ > kMostHistograms; }
  // Whether sweeping over all ids costs no more than a few times the leaf's own values.
  bool large(std::int64_t n_records) const {
    if (entries()) return false;
    const double cells = static_cast<double>(n_values_ * n_stats_);
    return cells <= std::max(2048.0, 4.0 * mean_length_ * static_cast<double>(n_records));
  }

  Histograms make() {
    if (free_.empty()) {
      Histograms histograms{std::make_unique<T[]>(size())};
      return histograms;
    }
    Histograms histograms{std::move(free_.back())};
    free_.pop_back();
    std::fill(histograms.data.get(), histograms.data.get() + size(), T{0});
    return histograms;
  }
  void release(Histograms& histograms) {
    if (histograms) free_.push_back(std::move(histograms.data));
  }

  // The histograms of the root: one-way counts are the lengths of the postings.
  Histograms count_root(const LeafMembers& leaf, std::int64_t target_column) {
    const Timer timer(*this);
    Histograms histograms = make();
    T* out = histograms.data.get();
    if (table_.weights)
      for (std::int64_t r = 0; r < table_.records.n_records; ++r)
        add(r, static_cast<T>(table_.weights[r]), out);
    else
      for (std::int64_t v = 0; v < n_values_; ++v)
        out[v] = static_cast<T>(table_.start[v + 1] - table_.start[v]);
    meter_.spend(n_values_);
    if (pairs_ && target_column >= 0)
      add_target_pairs(target_column, out);
    else
      add_minority<1, false>(leaf, out);
    return histograms;
  }

  // `default_class` are the leaf's records that are of the default class, here and below.
  Histograms count(const LeafMembers& leaf, const RecordList& default_class) {
    const Timer timer(*this);
    Histograms histograms = make();
    add_records<1>(default_class, histograms.data.get());
    add_minority<1, true>(leaf, histograms.data.get());
    return histograms;
  }

  // The same for the records inside a binary split: all that hold one of its ids, by the pair
  // counts, less those of other leaves.
  Histograms count_by_pairs(const LeafMembers& leaf, const TreeSplit& split,
                            const RecordList& others) {
    const Timer timer(*this);
    Histograms histograms = make();
    T* out = histograms.data.get();
    for (std::int64_t v = split.low; v < split.high; ++v) add_row(v, out);
    if (split.also >= 0) add_row(split.also, out);
    add_records<-1>(others, out);
    add_minority<1, false>(leaf, out);
    return histograms;
  }
  bool has_pairs() const { return pairs_ != nullptr; }

  void subtract(const Histograms& part, Histograms& from) {
    const Timer timer(*this);
    const T* subtrahend = part.data.get();
    T* out = from.data.get();
    for (std::size_t i = 0; i < size(); ++i) out[i] -= subtrahend[i];
  }
  void subtract(const LeafMembers& leaf, const RecordList& default_class, Histograms& from) {
    const Timer timer(*this);
    add_records<-1>(default_class, from.data.get());
    add_minority<-1, true>(leaf, from.data.get());
  }

  CountedLeaf<T> view(const Histograms& histograms, const std::int64_t* whole,
                      double prior_fraction, const LeafRegion* region) const {
    return {histograms.data.get(), stride_, n_values_, nullptr, whole, prior_fraction, region};
  }

  // Counts a small leaf; the view lasts until the next one is counted.
  CountedLeaf<T> count_small(const LeafMembers& leaf, const RecordList& default_class,
                             const std::int64_t* whole, double prior_fraction,
                             const LeafRegion* region) {
    const Timer timer(*this);
    find_ids(leaf, default_class);
    CountedLeaf<T> view{nullptr,
                        (static_cast<std::int64_t>(ids_.size()) + 3) / 4 * 4,
                        static_cast<std::int64_t>(ids_.size()),
                        ids_.data(),
                        whole,
                        prior_fraction,
                        region};
    if (entries())
      count_entries(leaf, view);
    else
      count_histograms(leaf, view);
    for (const std::int32_t id : ids_) s_.slot_of[static_cast<std::size_t>(id)] = -1;
    view.histograms = small_.data();
    return view;
  }

  double seconds() const { return seconds_; }

 private:
  struct Timer {
    using Clock = std::chrono::steady_clock;
    explicit Timer(TreeCounts& counts) : counts_(counts) {
      if (counts.timed_) began_ = Clock::now();
    }
    ~Timer() {
      if (counts_.timed_)
        counts_.seconds_ += std::chrono::duration<double>(Clock::now() - began_).count();
    }
    TreeCounts& counts_;
    Clock::time_point began_;
  };

  std::size_t size() const { return static_cast<std::size_t>(stride_ * n_stats_); }

  void add(std::int64_t r, T weight, T* histogram) const {
    for (const V *v = table_.records.begin(r), *end = table_.records.end(r); v < end; ++v)
      histogram[*v] += weight;
  }

  // Records of a leaf lie anywhere in a table: what comes soon is asked for early.
  void prefetch(std::int64_t soon, std::int64_t later) const {
    const V* values = table_.records.values + table_.records.indptr[soon];
    __builtin_prefetch(values);
    __builtin_prefetch(values + 64 / sizeof(V));
    __builtin_prefetch(table_.records.indptr + later);
  }
  static constexpr std::int64_t kSoon = 8, kLater = 24;

  template <int kSign>
  void add_records(const RecordList& list, T* out) {
    const std::int32_t* records = list.data();
    const auto n = static_cast<std::int64_t>(list.size());
    for (std::int64_t i = 0; i < n; ++i) {
      if (i + kLater < n) prefetch(records[i + kSoon], records[i + kLater]);
      const std::int64_t r = records[i];
      add(r, static_cast<T>(table_.weights ? kSign * table_.weights[r] : kSign), out);
    }
    meter_.spend(n * (4 + static_cast<std::int64_t>(mean_length_)));
  }

  // Adds minority-class records to the histograms of their target, and to the first one if kAll.
  template <int kSign, bool kAll>
  void add_minority(const LeafMembers& leaf, T* out) {
    const MinorityRecord* records = s_.minority.data() + leaf.minority_begin;
    const std::int64_t n = leaf.n_minority();
    for (std::int64_t i = 0; i < n; ++i) {
      if (i + kLater < n) prefetch(records[i + kSoon].record, records[i + kLater].record);
      const std::int64_t r = records[i].record;
      const T weight = static_cast<T>(table_.weights ? kSign * table_.weights[r] : kSign);
      const V *v = table_.records.begin(r), *end = table_.records.end(r);
      if (target_.first_moments) {
        const T first = static_cast<T>(kSign * target_.first_moments[r]);
        const T second = static_cast<T>(kSign * target_.second_moments[r]);
        for (; v < end; ++v) {
          if (kAll) out[*v] += weight;
          out[stride_ + *v] += first;
          out[2 * stride_ + *v] += second;
        }
      } else {
        T* histogram = out + records[i].histogram * stride_;
        for (; v < end; ++v) {
          if (kAll) out[*v] += weight;
          histogram[*v] += weight;
        }
      }
    }
    meter_.spend(n * (4 + static_cast<std::int64_t>(mean_length_)));
  }

  void add_row(std::int64_t v, T* histogram) const {
    const std::int64_t* row = pairs_ + v * n_values_;
    for (std::int64_t u = 0; u < n_values_; ++u) histogram[u] += static_cast<T>(row[u]);
  }

  void add_target_pairs(std::int64_t column, T* out) const {
    std::int64_t histogram = 1;
    for (std::int64_t v = table_.offsets[column]; v < table_.offsets[column + 1]; ++v)
      add_row(v, out + histogram++ * stride_);
  }

  // ids_: those of the leaf, ascending; slot_of: their positions; totals in small_.
  void find_ids(const LeafMembers& leaf, const RecordList& default_class) {
    ids_.clear();
    totals_.clear();
    const auto n = static_cast<std::int64_t>(default_class.size());
    for (std::int64_t i = 0; i < n; ++i) {
      if (i + kLater < n)
        prefetch(default_class[static_cast<std::size_t>(i + kSoon)],
                 default_class[static_cast<std::size_t>(i + kLater)]);
      note_ids(default_class[static_cast<std::size_t>(i)]);
    }
    for (std::int64_t i = leaf.minority_begin; i < leaf.minority_end; ++i)
      note_ids(s_.minority[static_cast<std::size_t>(i)].record);
    std::sort(ids_.begin(), ids_.end());
    const std::size_t stride = (ids_.size() + 3) / 4 * 4;
    small_.assign(stride * static_cast<std::size_t>(entries() ? 1 : n_stats_), T{0});
    for (std::size_t k = 0; k < ids_.size(); ++k) {
      std::int32_t& slot = s_.slot_of[static_cast<std::size_t>(ids_[k])];
      small_[k] = totals_[static_cast<std::size_t>(slot)];
      slot = static_cast<std::int32_t>(k);
    }
    meter_.spend(leaf.size() * (4 + 4 * static_cast<std::int64_t>(mean_length_)));
  }

  void note_ids(std::int64_t r) {
    const T weight = static_cast<T>(table_.weights ? table_.weights[r] : 1);
    for (const V *v = table_.records.begin(r), *end = table_.records.end(r); v < end; ++v) {
      std::int32_t& slot = s_.slot_of[*v];
      if (slot < 0) {
        slot = static_cast<std::int32_t>(ids_.size());
        ids_.push_back(static_cast<std::int32_t>(*v));
        totals_.push_back(T{0});
      }
      totals_[static_cast<std::size_t>(slot)] += weight;
    }
  }

  template <class Body>  // body(position of the id, record, histogram)
  void for_minority(const LeafMembers& leaf, const Body& body) const {
    for (std::int64_t i = leaf.minority_begin; i < leaf.minority_end; ++i) {
      const MinorityRecord minority = s_.minority[static_cast<std::size_t>(i)];
      const std::int64_t r = minority.record;
      for (const V *v = table_.records.begin(r), *end = table_.records.end(r); v < end; ++v)
        body(static_cast<std::size_t>(s_.slot_of[*v]), r, minority.histogram);
    }
  }

  void count_histograms(const LeafMembers& leaf, const CountedLeaf<T>& view) {
    const auto stride = static_cast<std::size_t>(view.stride);
    T* out = small_.data();
    for_minority(leaf, [&](std::size_t at, std::int64_t r, std::int32_t histogram) {
      if (target_.first_moments) {
        out[stride + at] += static_cast<T>(target_.first_moments[r]);
        out[2 * stride + at] += static_cast<T>(target_.second_moments[r]);
      } else {
        out[static_cast<std::size_t>(histogram) * stride + at] +=
            static_cast<T>(table_.weights ? table_.weights[r] : 1);
      }
    });
  }

  void count_entries(const LeafMembers& leaf, CountedLeaf<T>& view) {
    keyed_.clear();
    for_minority(leaf, [&](std::size_t at, std::int64_t r, std::int32_t histogram) {
      keyed_.push_back(
          {static_cast<std::uint64_t>(at) << 32 | static_cast<std::uint32_t>(histogram),
           static_cast<T>(table_.weights ? table_.weights[r] : 1)});
    });
    std::sort(keyed_.begin(), keyed_.end(),
              [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
    entry_start_.assign(ids_.size() + 1, 0);
    entry_class_.clear();
    entry_count_.clear();
    for (std::size_t i = 0; i < keyed_.size(); ++i) {
      if (i == 0 || keyed_[i].key != keyed_[i - 1].key) {
        entry_class_.push_back(static_cast<std::int32_t>(keyed_[i].key & 0xffffffff));
        entry_count_.push_back(T{0});
        ++entry_start_[static_cast<std::size_t>(keyed_[i].key >> 32) + 1];
      }
      entry_count_.back() += keyed_[i].count;
    }
    for (std::size_t k = 0; k < ids_.size(); ++k) entry_start_[k + 1] += entry_start_[k];
    view.entry_start = entry_start_.data();
    view.entry_class = entry_class_.data();
    view.entry_count = entry_count_.data();
  }

  struct Keyed {
    std::uint64_t key;  // position of the id, histogram
    T count;
  };

  const TreeTable<V>& table_;
  const TreeTarget& target_;
  const std::int64_t* pairs_;
  TreeScratch& s_;
  Meter& meter_;
  bool timed_;
  std::int64_t n_values_, n_stats_, stride_;
  double mean_length_ = 0.0, seconds_ = 0.0;
  std::vector<std::unique_ptr<T[]>> free_;
  std::vector<std::int32_t> ids_, entry_class_;
  std::vector<T> totals_, small_, entry_count_;
  std::vector<std::int64_t> entry_start_;
  std::vector<Keyed> keyed_;
};

}  // namespace tacit
