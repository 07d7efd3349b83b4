#include "net/grow_shrink.hpp"

#include <algorithm>

namespace tacit {

GrowShrink::GrowShrink(NetFamilies& families, int max_parents, const std::uint8_t* forbidden,
                       const std::uint8_t* required)
    : families_(families),
      n_(families.columns().n_columns()),
      max_parents_(max_parents),
      forbidden_(forbidden),
      required_(required),
      noise_(families.noise()) {
  forget();
}

void GrowShrink::forget() {
  nodes_.clear();
  roots_.assign(static_cast<std::size_t>(n_), nullptr);
}

const Grown& GrowShrink::best(int child, const ColumnSet& before, Reasons* reasons) {
  if (reasons) *reasons = {ColumnSet(n_), ColumnSet(n_)};
  Node*& root = roots_[static_cast<std::size_t>(child)];
  if (!root) {
    Parents parents;
    for (int p = 0; p < n_; ++p)
      if (must(p, child)) parents.push_back(p);
    root = node_of(child, parents, families_.family(child, parents).score);
  }
  Node* at = root;
  while (true) {
    if (!at->grow.known) find_growth(child, *at);
    Node* next = take(child, *at, at->grow, before, reasons);
    if (!next) {
      if (!at->shrink.known) find_shrinkage(child, *at);
      next = take(child, *at, at->shrink, before, reasons);
    }
    if (!next) {
      if (!at->replace.known) find_replacements(child, *at);
      next = take(child, *at, at->replace, before, reasons);
    }
    // Guesses of a score differ by the way to it: only what rises comes to an end.
    if (!next || !(next->here.score > at->here.score)) return at->here;
    at = next;
  }
}

GrowShrink::Node* GrowShrink::node_of(int child, const Parents& parents, double score) {
  auto& node = nodes_[key_of(child, parents)];
  if (!node) node = std::make_unique<Node>(Node{{score, parents}, {}, {}, {}});
  return node.get();
}

GrowShrink::Node* GrowShrink::take(int child, Node& node, Moves& moves, const ColumnSet& before,
                                   Reasons* reasons) {
  for (Move& move : moves.list) {
    if (move.next >= 0 && !before.has(move.next)) {
      if (reasons) reasons->wanted.add(move.next);
      continue;
    }
    if (reasons && move.next >= 0) reasons->used.add(move.next);
    if (!move.to) {
      Parents parents = node.here.parents;
      if (move.gone >= 0) parents.erase(std::find(parents.begin(), parents.end(), move.gone));
      if (move.next >= 0)
        parents.insert(std::lower_bound(parents.begin(), parents.end(), move.next), move.next);
      move.to = node_of(child, parents, move.score);
    }
    return move.to;
  }
  return nullptr;
}

void GrowShrink::find_growth(int child, Node& node) {
  const Parents& parents = node.here.parents;
  if (static_cast<int>(parents.size()) < max_parents_) {
    const NetFamily& family = families_.family(child, parents);
    for (int p = 0; p < n_; ++p)
      if (p != child && may(p, child) &&
          family.with[static_cast<std::size_t>(p)] > node.here.score + noise_)
        node.grow.list.push_back({family.with[static_cast<std::size_t>(p)], -1, p, nullptr});
  }
  std::stable_sort(node.grow.list.begin(), node.grow.list.end(),
                   [](const Move& a, const Move& b) { return a.score > b.score; });
  node.grow.known = true;
}

void GrowShrink::find_shrinkage(int child, Node& node) {
  const Parents& parents = node.here.parents;
  const NetFamily& family = families_.family(child, parents);
  for (std::size_t k = 0; k < parents.size(); ++k)
    if (!must(parents[k], child) && family.without[k] > node.here.score + noise_)
      node.shrink.list.push_back({family.without[k], parents[k], -1, nullptr});
  std::stable_sort(node.shrink.list.begin(), node.shrink.list.end(),
                   [](const Move& a, const Move& b) { return a.score > b.score; });
  node.shrink.known = true;
}

void GrowShrink::find_replacements(int child, Node& node) {
  const Parents& parents = node.here.parents;
  node.replace.known = true;
  // Where there is room, a better one could have been added.
  if (static_cast<int>(parents.size()) < max_parents_) return;
  for (std::size_t k = 0; k < parents.size(); ++k) {
    if (must(parents[k], child)) continue;
    Parents fewer = parents;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
    const NetFamily& family = families_.family(child, fewer);
    for (int p = 0; p < n_; ++p)
      if (p != child && may(p, child) && !std::binary_search(parents.begin(), parents.end(), p) &&
          family.with[static_cast<std::size_t>(p)] > node.here.score + noise_)
        node.replace.list.push_back(
            {family.with[static_cast<std::size_t>(p)], parents[k], p, nullptr});
  }
  std::stable_sort(node.replace.list.begin(), node.replace.list.end(),
                   [](const Move& a, const Move& b) { return a.score > b.score; });
}

}  // namespace tacit
