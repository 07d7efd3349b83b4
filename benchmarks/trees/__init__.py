"""Decision trees and dependency networks against peers."""
