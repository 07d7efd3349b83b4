// Which records are in which leaf, and how a split moves them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "tree.hpp"

namespace tacit {

// A record that says something about the target: one that is not of the base class.
struct TellingRecord {
  std::int32_t record;
  std::int32_t plane;  // which plane it adds to
};

// Part of an array of records; `listed` is false for the one leaf that holds every record nobody
// has listed yet, and then there is only a number.
struct RecordSpan {
  std::int64_t begin = 0, end = 0;
  bool listed = false;
  std::int64_t size() const { return end - begin; }
};

// A leaf's records and the telling ones among them.
struct LeafMembers {
  RecordSpan records;
  std::int64_t telling_begin = 0, telling_end = 0;
};

// What lasts from one tree to the next on a thread, so that it is not allocated anew.
struct TreeScratch {
  std::vector<std::uint8_t> taken;   // records that are listed in some leaf
  std::vector<std::int32_t> place;   // where a split sends a record; 0 between splits
  std::vector<std::int32_t> listed;  // the records of listed leaves, leaf by leaf
  std::vector<std::int32_t> spare;
  std::vector<std::int32_t> others;  // records of a range that other leaves have
  std::vector<TellingRecord> telling, spare_telling;
  std::vector<std::int32_t> slot_of;  // by value id, for small leaves; -1 between leaves
};

// Keeps the records of all leaves. A record is listed at most once, when a split of the unlisted
// leaf takes it out; from then on lists are only rearranged.
template <class V>
class TreeMembers {
 public:
  TreeMembers(const TreeTable<V>& table, TreeScratch& scratch, Meter& meter)
      : table_(table), s_(scratch), meter_(meter) {
    const auto m = static_cast<std::size_t>(table.records.n_records);
    s_.taken.assign(m, 0);
    s_.place.resize(m, 0);
    s_.listed.clear();
  }

  LeafMembers root() const {
    const std::int64_t m = table_.records.n_records;
    return {{0, m, false}, 0, static_cast<std::int64_t>(s_.telling.size())};
  }

  const std::int32_t* records(const RecordSpan& span) const { return s_.listed.data() + span.begin; }
  const TellingRecord* telling(const LeafMembers& leaf) const {
    return s_.telling.data() + leaf.telling_begin;
  }
  // Records of the last range that were not in the leaf because they had been taken before.
  const std::vector<std::int32_t>& others() const { return s_.others; }

  // Sends the leaf's records that hold low + k to part k (or all of the range to part 0 if not
  // `each`), and the rest to the last part.
  std::vector<LeafMembers> split(const LeafMembers& leaf, std::int64_t low, std::int64_t high,
                                 bool each) {
    const std::int64_t n_parts = each ? high - low + 1 : 2;
    std::vector<LeafMembers> parts(static_cast<std::size_t>(n_parts));
    s_.others.clear();
    if (!leaf.records.listed)
      take(leaf, low, high, each, parts);
    else
      rearrange(leaf, low, high, each, parts);
    tell(leaf, parts);
    unmark(leaf, low, high, parts);
    return parts;
  }

  // Lists the records of the leaf that has none listed, which can then be split like any other.
  void list(LeafMembers& leaf) {
    const auto begin = static_cast<std::int64_t>(s_.listed.size());
    for (std::size_t r = 0; r < s_.taken.size(); ++r)
      if (!s_.taken[r]) s_.listed.push_back(static_cast<std::int32_t>(r));
    std::fill(s_.taken.begin(), s_.taken.end(), std::uint8_t{1});
    leaf.records = {begin, static_cast<std::int64_t>(s_.listed.size()), true};
    meter_.spend(static_cast<std::int64_t>(s_.taken.size()));
  }

  // Puts the records of two listed leaves side by side.
  LeafMembers join(const LeafMembers& a, const LeafMembers& b) {
    LeafMembers both;
    both.records = {static_cast<std::int64_t>(s_.listed.size()), 0, true};
    both.telling_begin = static_cast<std::int64_t>(s_.telling.size());
    for (const LeafMembers* leaf : {&a, &b}) {
      for (std::int64_t i = leaf->records.begin; i < leaf->records.end; ++i)
        s_.listed.push_back(s_.listed[static_cast<std::size_t>(i)]);
      for (std::int64_t i = leaf->telling_begin; i < leaf->telling_end; ++i)
        s_.telling.push_back(s_.telling[static_cast<std::size_t>(i)]);
    }
    both.records.end = static_cast<std::int64_t>(s_.listed.size());
    both.telling_end = static_cast<std::int64_t>(s_.telling.size());
    meter_.spend(both.records.size());
    return both;
  }

 private:
  // Marks are 1 + the part; whatever is not marked goes to the last part.
  void take(const LeafMembers& leaf, std::int64_t low, std::int64_t high, bool each,
            std::vector<LeafMembers>& parts) {
    std::int64_t left = leaf.records.size();
    for (std::int64_t v = low; v < high; ++v) {
      const std::int32_t part = each ? static_cast<std::int32_t>(v - low) : 0;
      if (each || v == low) parts[static_cast<std::size_t>(part)].records = span_from_end();
      for (std::int64_t i = table_.start[v]; i < table_.start[v + 1]; ++i) {
        const std::int32_t r = table_.rows[i];
        if (s_.taken[static_cast<std::size_t>(r)]) {
          s_.others.push_back(r);
          continue;
        }
        s_.taken[static_cast<std::size_t>(r)] = 1;
        s_.place[static_cast<std::size_t>(r)] = part + 1;
        s_.listed.push_back(r);
      }
      parts[static_cast<std::size_t>(part)].records.end =
          static_cast<std::int64_t>(s_.listed.size());
    }
    meter_.spend(table_.start[high] - table_.start[low]);
    for (std::size_t p = 0; p + 1 < parts.size(); ++p) left -= parts[p].records.size();
    parts.back().records = {0, left, false};
  }

  RecordSpan span_from_end() const {
    const auto end = static_cast<std::int64_t>(s_.listed.size());
    return {end, end, true};
  }

  void rearrange(const LeafMembers& leaf, std::int64_t low, std::int64_t high, bool each,
                 std::vector<LeafMembers>& parts) {
    const std::int64_t n = leaf.records.size();
    std::int32_t* own = s_.listed.data() + leaf.records.begin;
    if (by_postings(leaf, low, high))
      for (std::int64_t v = low; v < high; ++v)
        for (std::int64_t i = table_.start[v]; i < table_.start[v + 1]; ++i)
          s_.place[static_cast<std::size_t>(table_.rows[i])] = mark_of(v, low, each);
    else
      for (std::int64_t i = 0; i < n; ++i)
        s_.place[static_cast<std::size_t>(own[i])] = find(own[i], low, high, each);
    meter_.spend(table_.start[high] - table_.start[low] + n);
    const std::vector<std::int64_t> ends =
        sort_by_part(own, own + n, s_.spare, parts.size(), [](std::int32_t r) { return r; });
    std::int64_t begin = leaf.records.begin;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      parts[p].records = {begin, leaf.records.begin + ends[p], true};
      begin = parts[p].records.end;
    }
  }

  void tell(const LeafMembers& leaf, std::vector<LeafMembers>& parts) {
    TellingRecord* own = s_.telling.data() + leaf.telling_begin;
    const std::int64_t n = leaf.telling_end - leaf.telling_begin;
    const std::vector<std::int64_t> ends = sort_by_part(
        own, own + n, s_.spare_telling, parts.size(), [](const TellingRecord& t) { return t.record; });
    std::int64_t begin = leaf.telling_begin;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      parts[p].telling_begin = begin;
      begin = parts[p].telling_end = leaf.telling_begin + ends[p];
    }
    meter_.spend(n);
  }

  void unmark(const LeafMembers& leaf, std::int64_t low, std::int64_t high,
              const std::vector<LeafMembers>& parts) {
    if (leaf.records.listed && by_postings(leaf, low, high)) {
      for (std::int64_t i = table_.start[low]; i < table_.start[high]; ++i)
        s_.place[static_cast<std::size_t>(table_.rows[i])] = 0;
      return;
    }
    for (std::size_t p = 0; p + 1 < parts.size(); ++p)
      for (std::int64_t i = parts[p].records.begin; i < parts[p].records.end; ++i)
        s_.place[static_cast<std::size_t>(s_.listed[static_cast<std::size_t>(i)])] = 0;
  }

  // Marking a posting is a step; looking a record up costs about as much as eight of them.
  bool by_postings(const LeafMembers& leaf, std::int64_t low, std::int64_t high) const {
    return table_.start[high] - table_.start[low] <= 8 * leaf.records.size();
  }

  static std::int32_t mark_of(std::int64_t v, std::int64_t low, bool each) {
    return each ? static_cast<std::int32_t>(v - low) + 1 : 1;
  }

  std::int32_t find(std::int32_t r, std::int64_t low, std::int64_t high, bool each) const {
    const V* end = table_.records.end(r);
    const V* at = std::lower_bound(table_.records.begin(r), end, low, [](V id, std::int64_t x) {
      return static_cast<std::int64_t>(id) < x;
    });
    return at < end && static_cast<std::int64_t>(*at) < high ? mark_of(*at, low, each) : 0;
  }

  // Sorts [begin, end) by part, keeping the order within each, and returns where the parts end.
  template <class Item, class RecordOf>
  std::vector<std::int64_t> sort_by_part(Item* begin, Item* end, std::vector<Item>& spare,
                                         std::size_t n_parts, const RecordOf& record_of) const {
    const auto part = [&](const Item& item) {
      const std::int32_t mark = s_.place[static_cast<std::size_t>(record_of(item))];
      return mark ? static_cast<std::size_t>(mark - 1) : n_parts - 1;
    };
    std::vector<std::int64_t> ends(n_parts, 0);
    if (n_parts == 2) {  // by far the most common: one pass
      spare.clear();
      Item* inside = begin;
      for (Item* item = begin; item < end; ++item) {
        const Item own = *item;
        if (part(own) == 0)
          *inside++ = own;
        else
          spare.push_back(own);
      }
      std::copy(spare.begin(), spare.end(), inside);
      ends = {inside - begin, end - begin};
      return ends;
    }
    for (Item* item = begin; item < end; ++item) ++ends[part(*item)];
    std::int64_t before = 0;
    for (std::int64_t& size : ends) {
      const std::int64_t own = size;
      size = before;
      before += own;
    }
    spare.assign(begin, end);
    for (const Item& item : spare) begin[ends[part(item)]++] = item;
    return ends;
  }

  const TreeTable<V>& table_;
  TreeScratch& s_;
  Meter& meter_;
};

}  // namespace tacit
