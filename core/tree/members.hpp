// Which records are in which leaf, and how a split moves them.
//
// Every record carries the tag of its leaf. A split goes through the postings of its range and
// gives the records that it finds in the leaf a tag of their own; the rest, usually the larger
// part, keeps the tag and is not touched. A leaf remembers the records it began with, and forgets
// those that have gone once they are the larger half. Minority-class records are kept apart: they
// are counted with the target, the others without.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "tree/columns.hpp"

namespace tacit {

// A vector that does not fill what it grows by: lists are written once, in full.
template <class T>
struct Unfilled : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Unfilled<U>;
  };
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
};
using RecordList = std::vector<std::int32_t, Unfilled<std::int32_t>>;

// A record that says something about the target: one that is not of the default class.
struct MinorityRecord {
  std::int32_t record;
  std::int32_t histogram;  // which histogram it adds to
};

struct LeafMembers {
  std::int32_t tag = 0;  // even; that of its minority-class records is one more
  std::int64_t n_default = 0;
  bool everything = false;  // began as all records, which are not listed
  RecordList began;         // its default-class records, and some that other leaves have now
  std::int64_t minority_begin = 0, minority_end = 0;

  std::int64_t n_minority() const { return minority_end - minority_begin; }
  std::int64_t size() const { return n_default + n_minority(); }
};

// What lasts from one tree to the next on a thread, so that it is not allocated anew.
struct TreeScratch {
  std::vector<std::int32_t> tags;
  RecordList others;  // records of a range that are not in the leaf
  std::vector<MinorityRecord> minority, spare;
  std::vector<std::int32_t> slot_of;  // by value id, for small leaves; -1 between leaves
};

template <class V>
class TreeMembers {
 public:
  // Only with `others` is it noted which records of a range are in other leaves.
  TreeMembers(const TreeTable<V>& table, bool others, TreeScratch& scratch, Meter& meter)
      : table_(table), s_(scratch), meter_(meter), wants_others_(others) {
    s_.tags.assign(static_cast<std::size_t>(table.records.n_records), 0);
    for (const MinorityRecord& one : s_.minority) tag(one.record) = 1;
  }

  LeafMembers root() const {
    LeafMembers leaf;
    leaf.everything = true;
    leaf.minority_end = static_cast<std::int64_t>(s_.minority.size());
    leaf.n_default = table_.records.n_records - leaf.minority_end;
    return leaf;
  }

  const MinorityRecord* minority(const LeafMembers& leaf) const {
    return s_.minority.data() + leaf.minority_begin;
  }

  // The leaf's records that are of the default class.
  const RecordList& default_class(LeafMembers& leaf) {
    if (leaf.everything) {
      leaf.began.resize(s_.tags.size());
      std::iota(leaf.began.begin(), leaf.began.end(), 0);
      leaf.everything = false;
    }
    if (static_cast<std::int64_t>(leaf.began.size()) != leaf.n_default) forget(leaf);
    return leaf.began;
  }

  // Sends the leaf's records that hold low + k to part k (or all that go inside to part 0 if the
  // split is not complete), and the rest to the last part. The leaf is used up.
  std::vector<LeafMembers> split(LeafMembers& leaf, const TreeSplit& split) {
    std::vector<LeafMembers> parts(
        static_cast<std::size_t>(split.complete ? split.high - split.low + 1 : 2));
    const std::int32_t first_tag = next_tag_;
    for (std::size_t p = 0; p + 1 < parts.size(); ++p) parts[p].tag = new_tag();
    const bool listed = by_postings(leaf, split);
    others_known_ = listed && wants_others_;
    if (others_known_)
      take<true>(leaf.tag, split, parts);
    else if (listed)
      take<false>(leaf.tag, split, parts);
    else
      look_up_all(leaf, split, parts);
    sort_minority(leaf, first_tag, parts);
    LeafMembers& rest = parts.back();
    rest.tag = leaf.tag;
    rest.n_default = leaf.n_default;
    for (std::size_t p = 0; p + 1 < parts.size(); ++p) {
      parts[p].n_default = static_cast<std::int64_t>(parts[p].began.size());
      rest.n_default -= parts[p].n_default;
    }
    rest.everything = leaf.everything;
    rest.began = std::move(leaf.began);
    if (!rest.everything && static_cast<std::int64_t>(rest.began.size()) > 2 * rest.n_default)
      forget(rest);
    return parts;
  }

  // The records of the last range that were in other leaves, if the postings were asked.
  const RecordList* others() const { return others_known_ ? &s_.others : nullptr; }

  // Puts the records of two leaves side by side.
  LeafMembers join(LeafMembers& a, LeafMembers& b) {
    LeafMembers both;
    both.tag = new_tag();
    both.n_default = a.n_default + b.n_default;
    both.minority_begin = static_cast<std::int64_t>(s_.minority.size());
    for (LeafMembers* leaf : {&a, &b}) {
      for (const std::int32_t r : default_class(*leaf)) {
        tag(r) = both.tag;
        both.began.push_back(r);
      }
      for (std::int64_t i = leaf->minority_begin; i < leaf->minority_end; ++i) {
        const MinorityRecord one = s_.minority[static_cast<std::size_t>(i)];
        tag(one.record) = both.tag + 1;
        s_.minority.push_back(one);
      }
      leaf->began.clear();
    }
    both.minority_end = static_cast<std::int64_t>(s_.minority.size());
    meter_.spend(both.size());
    return both;
  }

 private:
  std::int32_t& tag(std::int32_t r) { return s_.tags[static_cast<std::size_t>(r)]; }
  std::int32_t new_tag() { return (next_tag_ += 2) - 2; }

  void forget(LeafMembers& leaf) {
    const auto gone = [&](std::int32_t r) { return tag(r) != leaf.tag; };
    meter_.spend(static_cast<std::int64_t>(leaf.began.size()));
    leaf.began.erase(std::remove_if(leaf.began.begin(), leaf.began.end(), gone), leaf.began.end());
  }

  // A posting is a step; to look a record up costs about as much as eight of them.
  bool by_postings(const LeafMembers& leaf, const TreeSplit& split) const {
    const auto n_members = static_cast<std::int64_t>(leaf.began.size()) + leaf.n_minority();
    return leaf.everything || listed(split) <= 8 * n_members;
  }

  // How many records hold an id that goes inside.
  std::int64_t listed(const TreeSplit& split) const {
    const std::int64_t more =
        split.also < 0 ? 0 : table_.start[split.also + 1] - table_.start[split.also];
    return table_.start[split.high] - table_.start[split.low] + more;
  }

  template <bool kOthers>
  void take(std::int32_t leaf_tag, const TreeSplit& split, std::vector<LeafMembers>& parts) {
    const std::int64_t n = listed(split);
    if (kOthers) s_.others.resize(static_cast<std::size_t>(n) + 1);
    std::int32_t* other = s_.others.data();
    const auto take_id = [&](std::int64_t v, LeafMembers& part) {
      const std::size_t before = part.began.size();
      part.began.resize(before +
                        static_cast<std::size_t>(table_.start[v + 1] - table_.start[v] + 1));
      std::int32_t* mine = part.began.data() + before;
      for (std::int64_t i = table_.start[v]; i < table_.start[v + 1]; ++i) {
        const std::int32_t r = table_.rows[i];
        std::int32_t& current = tag(r);
        const std::int32_t off =
            current - leaf_tag;  // 0 default-class, 1 minority, else another leaf's
        // Written to both, kept by one at most: which it is cannot be guessed.
        *mine = r;
        current = (off >> 1) == 0 ? part.tag + off : current;
        mine += off == 0;
        if (kOthers) {
          *other = r;
          other += (off >> 1) != 0;
        }
      }
      part.began.resize(static_cast<std::size_t>(mine - part.began.data()));
    };
    for (std::int64_t v = split.low; v < split.high; ++v)
      take_id(v, parts[split.complete ? static_cast<std::size_t>(v - split.low) : 0]);
    if (split.also >= 0) take_id(split.also, parts[0]);
    if (kOthers) s_.others.resize(static_cast<std::size_t>(other - s_.others.data()));
    meter_.spend(n);
  }

  void look_up_all(const LeafMembers& leaf, const TreeSplit& split,
                   std::vector<LeafMembers>& parts) {
    const auto part_of = [&](std::int32_t r) -> LeafMembers* {
      std::int64_t v = find(r, split.low, split.high);
      if (v < 0 && split.also >= 0) v = find(r, split.also, split.also + 1);
      return v < 0 ? nullptr : &parts[split.complete ? static_cast<std::size_t>(v - split.low) : 0];
    };
    for (const std::int32_t r : leaf.began) {
      if (tag(r) != leaf.tag) continue;
      LeafMembers* part = part_of(r);
      if (!part) continue;
      part->began.push_back(r);
      tag(r) = part->tag;
    }
    for (std::int64_t i = leaf.minority_begin; i < leaf.minority_end; ++i) {
      const std::int32_t r = s_.minority[static_cast<std::size_t>(i)].record;
      if (const LeafMembers* part = part_of(r)) tag(r) = part->tag + 1;
    }
    meter_.spend(8 * (static_cast<std::int64_t>(leaf.began.size()) + leaf.n_minority()));
  }

  // The id in [low, high) that a record holds, or -1.
  std::int64_t find(std::int32_t r, std::int64_t low, std::int64_t high) const {
    const V* end = table_.records.end(r);
    const V* at = std::lower_bound(table_.records.begin(r), end, low, [](V id, std::int64_t x) {
      return static_cast<std::int64_t>(id) < x;
    });
    return at < end && static_cast<std::int64_t>(*at) < high ? static_cast<std::int64_t>(*at) : -1;
  }

  // Sorts the leaf's minority-class records by part, keeping their order within each.
  void sort_minority(const LeafMembers& leaf, std::int32_t first_tag,
                     std::vector<LeafMembers>& parts) {
    const std::int64_t n = leaf.n_minority();
    MinorityRecord* minority = s_.minority.data() + leaf.minority_begin;
    meter_.spend(2 * n);
    if (parts.size() == 2) {  // by far the most common
      s_.spare.resize(static_cast<std::size_t>(n) + 1);
      MinorityRecord *inside = minority, *rest = s_.spare.data();
      for (std::int64_t i = 0; i < n; ++i) {
        const MinorityRecord one = minority[i];
        const bool stays = tag(one.record) == leaf.tag + 1;
        *inside = *rest = one;  // written to both, kept by one
        inside += !stays;
        rest += stays;
      }
      std::copy(s_.spare.data(), rest, inside);
      parts[0].minority_begin = leaf.minority_begin;
      parts[0].minority_end = parts[1].minority_begin = leaf.minority_begin + (inside - minority);
      parts[1].minority_end = leaf.minority_end;
      return;
    }
    s_.spare.assign(minority, minority + n);
    const std::size_t last = parts.size() - 1;
    const auto part = [&](const MinorityRecord& one) {
      const std::int32_t record_tag = tag(one.record);
      return record_tag == leaf.tag + 1 ? last
                                        : static_cast<std::size_t>(record_tag - first_tag) / 2;
    };
    for (LeafMembers& one : parts) one.minority_end = 0;
    for (const MinorityRecord& one : s_.spare) ++parts[part(one)].minority_end;
    std::int64_t begin = leaf.minority_begin;
    for (LeafMembers& one : parts) {
      const std::int64_t size = one.minority_end;
      one.minority_begin = one.minority_end = begin;
      begin += size;
    }
    for (const MinorityRecord& one : s_.spare)
      s_.minority[static_cast<std::size_t>(parts[part(one)].minority_end++)] = one;
  }

  const TreeTable<V>& table_;
  TreeScratch& s_;
  Meter& meter_;
  std::int32_t next_tag_ = 2;
  bool wants_others_, others_known_ = false;
};

}  // namespace tacit
