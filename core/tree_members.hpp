// Which records are in which leaf, and how a split moves them.
//
// Every record carries the tag of its leaf. A split goes through the postings of its range and
// gives the records that it finds in the leaf a tag of their own; the rest, usually the larger
// part, keeps the tag and is not touched. A leaf remembers the records it began with, and forgets
// those that have gone once they are the larger half.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "parallel.hpp"
#include "tree.hpp"

namespace tacit {

// A record that says something about the target: one that is not of the base class.
struct TellingRecord {
  std::int32_t record;
  std::int32_t plane;  // which plane it adds to
};

struct LeafMembers {
  std::int32_t tag = 0;
  std::int64_t size = 0;
  bool everything = false;          // began as all records, which are not listed
  std::vector<std::int32_t> began;  // its records, and some that other leaves have now
  std::int64_t telling_begin = 0, telling_end = 0;
};

// What lasts from one tree to the next on a thread, so that it is not allocated anew.
struct TreeScratch {
  std::vector<std::int32_t> tags;
  std::vector<std::int32_t> others;  // records of a range that are not in the leaf
  std::vector<TellingRecord> telling, spare;
  std::vector<std::int32_t> slot_of;  // by value id, for small leaves; -1 between leaves
};

template <class V>
class TreeMembers {
 public:
  TreeMembers(const TreeTable<V>& table, TreeScratch& scratch, Meter& meter)
      : table_(table), s_(scratch), meter_(meter) {
    s_.tags.assign(static_cast<std::size_t>(table.records.n_records), 0);
  }

  LeafMembers root() const {
    LeafMembers leaf;
    leaf.size = table_.records.n_records;
    leaf.everything = true;
    leaf.telling_end = static_cast<std::int64_t>(s_.telling.size());
    return leaf;
  }

  const TellingRecord* telling(const LeafMembers& leaf) const {
    return s_.telling.data() + leaf.telling_begin;
  }

  // The leaf's records.
  const std::vector<std::int32_t>& records(LeafMembers& leaf) {
    if (leaf.everything) {
      leaf.began.resize(s_.tags.size());
      std::iota(leaf.began.begin(), leaf.began.end(), 0);
      leaf.everything = false;
    }
    if (static_cast<std::int64_t>(leaf.began.size()) != leaf.size) forget(leaf);
    return leaf.began;
  }

  // Sends the leaf's records that hold low + k to part k (or all of the range to part 0 if not
  // `each`), and the rest to the last part. The leaf is used up.
  std::vector<LeafMembers> split(LeafMembers& leaf, std::int64_t low, std::int64_t high,
                                 bool each) {
    std::vector<LeafMembers> parts(static_cast<std::size_t>(each ? high - low + 1 : 2));
    const std::int32_t first_tag = n_tags_;
    for (std::size_t p = 0; p + 1 < parts.size(); ++p) parts[p].tag = n_tags_++;
    s_.others.clear();
    others_known_ = by_postings(leaf, low, high);
    if (others_known_)
      take(leaf.tag, low, high, each, parts);
    else
      look_up(leaf, low, high, each, parts);
    tell(leaf, first_tag, parts);
    LeafMembers& rest = parts.back();
    rest.tag = leaf.tag;
    rest.size = leaf.size;
    for (std::size_t p = 0; p + 1 < parts.size(); ++p) {
      parts[p].size = static_cast<std::int64_t>(parts[p].began.size());
      rest.size -= parts[p].size;
    }
    rest.everything = leaf.everything;
    rest.began = std::move(leaf.began);
    if (!rest.everything && static_cast<std::int64_t>(rest.began.size()) > 2 * rest.size)
      forget(rest);
    return parts;
  }

  // The records of the last range that were in other leaves, if the postings were asked.
  const std::vector<std::int32_t>* others() const { return others_known_ ? &s_.others : nullptr; }

  // Puts the records of two leaves side by side.
  LeafMembers join(LeafMembers& a, LeafMembers& b) {
    LeafMembers both;
    both.tag = n_tags_++;
    both.size = a.size + b.size;
    both.telling_begin = static_cast<std::int64_t>(s_.telling.size());
    for (LeafMembers* leaf : {&a, &b}) {
      for (const std::int32_t r : records(*leaf)) {
        s_.tags[static_cast<std::size_t>(r)] = both.tag;
        both.began.push_back(r);
      }
      for (std::int64_t i = leaf->telling_begin; i < leaf->telling_end; ++i)
        s_.telling.push_back(TellingRecord(s_.telling[static_cast<std::size_t>(i)]));
      leaf->began.clear();
    }
    both.telling_end = static_cast<std::int64_t>(s_.telling.size());
    meter_.spend(both.size);
    return both;
  }

 private:
  std::int32_t& tag(std::int32_t r) { return s_.tags[static_cast<std::size_t>(r)]; }

  void forget(LeafMembers& leaf) {
    const auto gone = [&](std::int32_t r) { return tag(r) != leaf.tag; };
    meter_.spend(static_cast<std::int64_t>(leaf.began.size()));
    leaf.began.erase(std::remove_if(leaf.began.begin(), leaf.began.end(), gone), leaf.began.end());
  }

  // A posting is a step; to look a record up costs about as much as eight of them.
  bool by_postings(const LeafMembers& leaf, std::int64_t low, std::int64_t high) const {
    const auto own = static_cast<std::int64_t>(leaf.began.size());
    return leaf.everything || table_.start[high] - table_.start[low] <= 8 * own;
  }

  void take(std::int32_t own, std::int64_t low, std::int64_t high, bool each,
            std::vector<LeafMembers>& parts) {
    const std::int64_t n = table_.start[high] - table_.start[low];
    s_.others.resize(static_cast<std::size_t>(n));
    std::int32_t* other = s_.others.data();
    for (std::int64_t v = low; v < high; ++v) {
      LeafMembers& part = parts[each ? static_cast<std::size_t>(v - low) : 0];
      const std::size_t before = part.began.size();
      part.began.resize(before + static_cast<std::size_t>(table_.start[v + 1] - table_.start[v]));
      std::int32_t* mine = part.began.data() + before;
      for (std::int64_t i = table_.start[v]; i < table_.start[v + 1]; ++i) {
        const std::int32_t r = table_.rows[i];
        std::int32_t& current = tag(r);
        const bool is_own = current == own;
        // Written to both, kept by one: which it is cannot be guessed.
        *mine = *other = r;
        current = is_own ? part.tag : current;
        mine += is_own;
        other += !is_own;
      }
      part.began.resize(static_cast<std::size_t>(mine - part.began.data()));
    }
    s_.others.resize(static_cast<std::size_t>(other - s_.others.data()));
    meter_.spend(n);
  }

  void look_up(const LeafMembers& leaf, std::int64_t low, std::int64_t high, bool each,
               std::vector<LeafMembers>& parts) {
    for (const std::int32_t r : leaf.began) {
      if (tag(r) != leaf.tag) continue;
      const std::int64_t v = find(r, low, high);
      if (v < 0) continue;
      LeafMembers& part = parts[each ? static_cast<std::size_t>(v - low) : 0];
      part.began.push_back(r);
      tag(r) = part.tag;
    }
    meter_.spend(8 * static_cast<std::int64_t>(leaf.began.size()));
  }

  // The id in [low, high) that a record holds, or -1.
  std::int64_t find(std::int32_t r, std::int64_t low, std::int64_t high) const {
    const V* end = table_.records.end(r);
    const V* at = std::lower_bound(table_.records.begin(r), end, low, [](V id, std::int64_t x) {
      return static_cast<std::int64_t>(id) < x;
    });
    return at < end && static_cast<std::int64_t>(*at) < high ? static_cast<std::int64_t>(*at) : -1;
  }

  // Sorts the leaf's telling records by part, keeping their order within each.
  void tell(const LeafMembers& leaf, std::int32_t first_tag, std::vector<LeafMembers>& parts) {
    const std::int64_t n = leaf.telling_end - leaf.telling_begin;
    TellingRecord* own = s_.telling.data() + leaf.telling_begin;
    s_.spare.assign(own, own + n);
    const std::size_t last = parts.size() - 1;
    const auto part = [&](const TellingRecord& one) {
      const std::int32_t own_tag = tag(one.record);
      return own_tag == leaf.tag ? last : static_cast<std::size_t>(own_tag - first_tag);
    };
    for (LeafMembers& one : parts) one.telling_end = 0;
    for (const TellingRecord& one : s_.spare) ++parts[part(one)].telling_end;
    std::int64_t begin = leaf.telling_begin;
    for (LeafMembers& one : parts) {
      const std::int64_t size = one.telling_end;
      one.telling_begin = one.telling_end = begin;
      begin += size;
    }
    for (const TellingRecord& one : s_.spare)
      s_.telling[static_cast<std::size_t>(parts[part(one)].telling_end++)] = one;
    meter_.spend(2 * n);
  }

  const TreeTable<V>& table_;
  TreeScratch& s_;
  Meter& meter_;
  std::int32_t n_tags_ = 1;
  bool others_known_ = false;
};

}  // namespace tacit
