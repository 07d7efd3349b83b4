// Whether arrays from a file are a tree: every number that is followed must lead somewhere sound.
#include "engine/adtree.hpp"

namespace tacit {

const char* check_tree(const ColumnStore& store, const std::vector<std::int64_t>& order,
                       const TreeArrays& tree) {
  const auto n_columns = static_cast<std::uint32_t>(order.size());
  const auto n_records = store.n_records();
  if (tree.n_nodes == 0) return "it has no root";
  if (tree.nodes[0].records != n_records || tree.nodes[0].vary != kNone)
    return "its root does not stand for all records";
  // Children come after their parent, Vary after Vary: so there are no circles and no gaps.
  std::size_t next = 1;
  for (std::size_t v = 0; v < tree.n_varies; ++v) {
    const Vary& vary = tree.varies[v];
    if (vary.first != next || vary.children > tree.n_nodes - next) return "its nodes have gaps";
    if (vary.parent >= next) return "a node comes before its parent";
    if (vary.position >= n_columns) return "a Vary is of no column";
    const Node& parent = tree.nodes[vary.parent];
    const std::uint32_t first = vary.parent == 0 ? 0 : tree.varies[parent.vary].position + 1;
    if (vary.position < first) return "its columns are out of order";
    const auto arity = static_cast<std::uint32_t>(store.arity(order[vary.position]));
    if (vary.common >= arity) return "a most common value does not exist";
    if (parent.slots == kNone || parent.slots > tree.n_slots ||
        n_columns - first > tree.n_slots - parent.slots)
      return "a list of Varies is out of range";
    if (tree.slots[parent.slots + vary.position - first] != v) return "a Vary is not listed";
    std::uint64_t records = vary.dropped;
    for (std::uint32_t k = 0; k < vary.children; ++k) {
      const Node& child = tree.nodes[next + k];
      if (child.vary != v) return "a node does not know its Vary";
      if (child.code >= arity || child.code == vary.common || child.records == 0 ||
          (k > 0 && child.code <= tree.nodes[next + k - 1].code))
        return "the values of a Vary are not in order";
      records += child.records;
    }
    if (records > parent.records) return "counts do not add up";
    next += vary.children;
  }
  if (next != tree.n_nodes) return "it has nodes that belong nowhere";
  std::vector<bool> taken(tree.n_slots);  // growing writes to slots, so no two nodes may share one
  for (std::size_t n = 0; n < tree.n_nodes; ++n) {
    const Node& node = tree.nodes[n];
    if (node.slots != kNone) {
      const std::uint32_t first = n == 0 ? 0 : tree.varies[node.vary].position + 1;
      if (node.slots > tree.n_slots || n_columns - first > tree.n_slots - node.slots)
        return "a list of Varies is out of range";
      for (std::uint32_t position = first; position < n_columns; ++position) {
        const std::size_t slot = node.slots + position - first;
        if (taken[slot]) return "two lists of Varies overlap";
        taken[slot] = true;
        const std::uint32_t v = tree.slots[slot];
        if (v == kNone) continue;
        if (v >= tree.n_varies || tree.varies[v].parent != n || tree.varies[v].position != position)
          return "a Vary is listed where it does not belong";
      }
    }
    if (node.list == kNone) continue;
    if (n == 0 || node.list > tree.n_lists || node.records > tree.n_lists - node.list)
      return "a list of records is out of range";
    std::int64_t last = -1;
    for (std::uint32_t k = 0; k < node.records; ++k) {
      const std::int64_t record = tree.lists[node.list + k];
      if (record <= last || record >= n_records) return "a list of records is not in order";
      last = record;
    }
  }
  return nullptr;
}

}  // namespace tacit
