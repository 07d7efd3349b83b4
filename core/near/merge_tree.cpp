#include "near/merge_tree.hpp"

#include <numeric>
#include <utility>

namespace tacit {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

class Condensing {
 public:
  Condensing(const Merges& merges, const double* heights, std::int64_t n_objects,
             std::int64_t least_size)
      : merges_(merges), heights_(heights), n_(n_objects), least_(least_size) {
    const auto n_merges = static_cast<std::int64_t>(merges.first.size());
    solid_.resize(at(n_merges));
    for (std::int64_t k = 0; k < n_merges; ++k)
      solid_[at(k)] =
          is_solid(merges.first[at(k)], heights[k]) || is_solid(merges.second[at(k)], heights[k]);
  }

  CondensedTree run() {
    std::int32_t n_clusters = 1;
    std::vector<std::pair<std::int64_t, std::int32_t>> open{
        // nodes, and clusters they go on with
        {n_ + static_cast<std::int64_t>(merges_.first.size()) - 1, 0}};
    for (std::size_t next = 0; next < open.size(); ++next) {
      auto [node, cluster] = open[next];
      while (node >= n_) {
        const std::int64_t k = node - n_;
        const double height = heights_[k];
        const std::int32_t first = merges_.first[at(k)], second = merges_.second[at(k)];
        const bool one = is_solid(first, height), other = is_solid(second, height);
        if (one && other) {
          for (const std::int32_t side : {first, second}) {
            add(cluster, static_cast<std::int32_t>(n_) + n_clusters, height, size(side));
            open.push_back({side, n_clusters++});
          }
          break;
        }
        if (!one) leave(first, cluster, height);
        if (!other) leave(second, cluster, height);
        if (!one && !other) break;
        node = one ? first : second;
      }
    }
    return std::move(tree_);
  }

 private:
  std::int64_t size(std::int64_t node) const {
    return node < n_ ? 1 : merges_.sizes[at(node - n_)];
  }

  // Whether a node is a cluster by itself below a merge at this height.
  bool is_solid(std::int64_t node, double height) const {
    if (size(node) < least_) return false;
    return node < n_ || heights_[node - n_] < height || solid_[at(node - n_)];
  }

  void add(std::int32_t cluster, std::int32_t child, double height, std::int64_t n) {
    tree_.parent.push_back(static_cast<std::int32_t>(n_) + cluster);
    tree_.child.push_back(child);
    tree_.height.push_back(height);
    tree_.size.push_back(n);
  }

  void leave(std::int64_t node, std::int32_t cluster, double height) {
    below_.assign(1, node);
    while (!below_.empty()) {
      const std::int64_t top = below_.back();
      below_.pop_back();
      if (top < n_) {
        add(cluster, static_cast<std::int32_t>(top), height, 1);
        continue;
      }
      below_.push_back(merges_.second[at(top - n_)]);
      below_.push_back(merges_.first[at(top - n_)]);
    }
  }

  const Merges& merges_;
  const double* const heights_;
  const std::int64_t n_, least_;
  std::vector<bool> solid_;  // of each merge: whether it is a cluster at its own height
  std::vector<std::int64_t> below_;
  CondensedTree tree_;
};

}  // namespace

Merges merge_edges(const std::int32_t* a, const std::int32_t* b, std::int64_t n_edges,
                   std::int64_t n_objects) {
  std::vector<std::int32_t> parent(at(n_objects)), node(at(n_objects));
  std::vector<std::int64_t> sizes(at(n_objects), 1);
  std::iota(parent.begin(), parent.end(), 0);
  std::iota(node.begin(), node.end(), 0);
  const auto root = [&parent](std::int32_t i) {
    while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
    return i;
  };
  Merges merges;
  for (std::int64_t k = 0; k < n_edges; ++k) {
    std::int32_t one = root(a[k]), other = root(b[k]);
    if (one == other) continue;
    if (sizes[at(one)] < sizes[at(other)]) std::swap(one, other);  // the larger stays the root
    merges.first.push_back(node[at(other)]);
    merges.second.push_back(node[at(one)]);
    parent[at(other)] = one;
    sizes[at(one)] += sizes[at(other)];
    merges.sizes.push_back(sizes[at(one)]);
    node[at(one)] =
        static_cast<std::int32_t>(n_objects + static_cast<std::int64_t>(merges.sizes.size()) - 1);
  }
  return merges;
}

CondensedTree condense(const Merges& merges, const double* heights, std::int64_t n_objects,
                       std::int64_t least_size) {
  return Condensing(merges, heights, n_objects, least_size).run();
}

}  // namespace tacit
