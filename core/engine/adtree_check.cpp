// Whether arrays from a file are a tree: every number that is followed must lead somewhere sound.
#include "engine/adtree.hpp"

namespace tacit {
namespace {

const char* check_list(const ColumnStore& store, const TreeArrays& tree, const Node& node) {
  std::int64_t last = -1;
  for (std::uint32_t k = 0; k < node.records; ++k) {
    const std::int64_t record = tree.lists[node.list + k];
    if (record <= last || record >= store.n_records()) return "a list of records is not in order";
    last = record;
  }
  return nullptr;
}

}  // namespace

const char* check_vary(const ColumnStore& store, const std::vector<std::int64_t>& order,
                       const TreeArrays& tree, std::size_t v) {
  const Vary& vary = tree.varies[v];
  const auto arity = static_cast<std::uint32_t>(store.arity(order[vary.position]));
  if (vary.common >= arity) return "a most common value does not exist";
  std::uint64_t records = vary.dropped;
  for (std::uint32_t k = 0; k < vary.children; ++k) {
    const Node& child = tree.nodes[vary.first + k];
    if (child.vary != v) return "a node does not know its Vary";
    if (child.code >= arity || child.code == vary.common || child.records == 0 ||
        (k > 0 && child.code <= tree.nodes[vary.first + k - 1].code))
      return "the values of a Vary are not in order";
    records += child.records;
  }
  return records > tree.nodes[vary.parent].records ? "counts do not add up" : nullptr;
}

const char* check_root(const ColumnStore& store, const std::vector<std::int64_t>& order,
                       const TreeArrays& tree) {
  if (tree.n_nodes == 0) return "it has no root";
  const Node& root = tree.nodes[0];
  if (root.records != store.n_records() || root.vary != kNone || root.list != kNone)
    return "its root does not stand for all records";
  if (root.slots != kNone &&
      (root.slots > tree.n_slots || order.size() > tree.n_slots - root.slots))
    return "a list of Varies is out of range";
  return nullptr;
}

const char* check_tree(const ColumnStore& store, const std::vector<std::int64_t>& order,
                       const TreeArrays& tree) {
  const auto n_columns = static_cast<std::uint32_t>(order.size());
  if (const char* problem = check_root(store, order, tree)) return problem;
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
    if (parent.slots == kNone || parent.slots > tree.n_slots ||
        n_columns - first > tree.n_slots - parent.slots)
      return "a list of Varies is out of range";
    if (tree.slots[parent.slots + vary.position - first] != v) return "a Vary is not listed";
    if (const char* problem = check_vary(store, order, tree, v)) return problem;
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
    if (const char* problem = check_list(store, tree, node)) return problem;
  }
  return nullptr;
}

Unread::Unread(Fetch fetch, std::size_t block, const std::array<std::size_t, 5>& bytes,
               const TreeArrays& tree)
    : fetch_(std::move(fetch)), block_(block), tree_(tree) {
  for (std::size_t part = 0; part < bytes.size(); ++part)
    parts_[part].resize((bytes[part] + block - 1) / block);
  varies_seen_.zeros(tree.n_varies);
  lists_seen_.zeros(tree.n_nodes);
}

void Unread::fetch(Part part, std::size_t block) {
  const std::lock_guard lock(mutex_);
  const std::atomic_ref there(parts_[part][block]);
  if (there.load(std::memory_order_relaxed)) return;
  fetch_(part, block);
  there.store(1, std::memory_order_release);
}

void Unread::need_all() {
  for (const Part part : {kNodes, kVaries, kSlots, kLists, kSums})
    need(part, 0, block_ * parts_[part].size());
}

void Unread::need_vary(const ColumnStore& store, const std::vector<std::int64_t>& order,
                       std::uint32_t node, std::uint32_t position, std::uint32_t vary) {
  if (vary >= tree_.n_varies) throw Unsound("a Vary is listed where it does not belong");
  const std::atomic_ref seen(varies_seen_[vary]);
  if (seen.load(std::memory_order_acquire)) return;
  need(kVaries, vary * sizeof(Vary), (vary + std::size_t{1}) * sizeof(Vary));
  const Vary v = tree_.varies[vary];
  if (v.parent != node || v.position != position)
    throw Unsound("a Vary is listed where it does not belong");
  if (v.first <= node || v.first > tree_.n_nodes || v.children > tree_.n_nodes - v.first)
    throw Unsound("its nodes have gaps");
  const std::size_t end = std::size_t{v.first} + v.children;
  need(kNodes, v.first * sizeof(Node), end * sizeof(Node));
  need(kSums, v.first * sizeof(Int128), end * sizeof(Int128));
  if (const char* problem = check_vary(store, order, tree_, vary)) throw Unsound(problem);
  const std::size_t later = order.size() - position - 1;
  for (std::size_t n = v.first; n < end; ++n) {
    const Node& child = tree_.nodes[n];
    if (child.slots != kNone &&
        (child.slots > tree_.n_slots || later > tree_.n_slots - child.slots))
      throw Unsound("a list of Varies is out of range");
    if (child.list != kNone &&
        (child.list > tree_.n_lists || child.records > tree_.n_lists - child.list))
      throw Unsound("a list of records is out of range");
  }
  seen.store(1, std::memory_order_release);
}

void Unread::need_list(const ColumnStore& store, std::uint32_t node) {
  const std::atomic_ref seen(lists_seen_[node]);
  if (seen.load(std::memory_order_acquire)) return;
  const Node& own = tree_.nodes[node];
  need(kLists, own.list * sizeof(std::int32_t),
       (std::size_t{own.list} + own.records) * sizeof(std::int32_t));
  if (const char* problem = check_list(store, tree_, own)) throw Unsound(problem);
  seen.store(1, std::memory_order_release);
}

}  // namespace tacit
