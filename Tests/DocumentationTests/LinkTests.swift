import Foundation
import Testing

@Suite struct LinkTests {
    @Test("a link in a document leads to a file, and its anchor to a heading", arguments: try MarkdownDocument.all())
    func links(_ document: MarkdownDocument) throws {
        let folder = MarkdownDocument.root.appending(path: document.path).deletingLastPathComponent()
        for line in document.prose {
            for match in line.matches(of: /\]\(([^)\s]+)\)/) {
                let target = String(match.1)
                guard !target.hasPrefix("https://") else { continue }
                let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(
                    String.init)
                let file =
                    parts[0].isEmpty
                    ? MarkdownDocument.root.appending(path: document.path)
                    : folder.appending(path: parts[0]).standardizedFileURL
                #expect(FileManager.default.fileExists(atPath: file.path), "\(document.path): \(target)")
                if parts.count == 2, file.pathExtension == "md" {
                    let path = String(file.path.dropFirst(MarkdownDocument.root.path.count).drop { $0 == "/" })
                    let anchors = try MarkdownDocument(path).anchors
                    #expect(anchors.contains(parts[1]), "\(document.path): \(target), which has \(anchors.sorted())")
                }
            }
        }
    }

    /// scripts/package-deb installs `docs`, SECURITY.md and CHANGELOG.md; etc/debian/merchantkeyd.links adds links to
    /// files that the package installs elsewhere.
    @Test func `a link in a document of the package leads to a file of the package`() throws {
        let list = try String(
            contentsOf: MarkdownDocument.root.appending(path: "etc/debian/merchantkeyd.links"), encoding: .utf8)
        let linked = list.split(separator: "\n").compactMap { $0.split(separator: " ").last }.map {
            String($0.dropFirst("usr/share/doc/merchantkeyd/".count))
        }
        #expect(linked.count == 4)
        let documents = ["SECURITY.md", "CHANGELOG.md"]
        for document in try MarkdownDocument.all()
        where document.path.hasPrefix("docs/") || documents.contains(document.path) {
            let folder = MarkdownDocument.root.appending(path: document.path).deletingLastPathComponent()
            for match in document.prose.joined(separator: "\n").matches(of: /\]\(([^)#\s]+)/) {
                guard !match.1.hasPrefix("https://") else { continue }
                let file = folder.appending(path: String(match.1)).standardizedFileURL.path
                let path = String(file.dropFirst(MarkdownDocument.root.path.count).drop { $0 == "/" })
                #expect(
                    path.hasPrefix("docs/") || documents.contains(path)
                        || linked.contains { path == $0 || path.hasPrefix("\($0)/") },
                    "\(document.path): \(match.1)")
            }
        }
    }

    @Test func `the indexes of docs and docs/adr name every document`() throws {
        let indexes = try ["docs/README.md", "docs/adr/README.md"].map { try MarkdownDocument($0) }
        for document in try MarkdownDocument.all() where document.path.hasPrefix("docs/") {
            let name = URL(filePath: document.path).lastPathComponent
            guard name != "README.md" else { continue }
            #expect(indexes.contains { $0.lines.contains { $0.contains("](\(name))") } }, "\(document.path)")
        }
    }

    @Test func `the README has fewer than 130 lines`() throws {
        #expect(try MarkdownDocument("README.md").lines.count < 130)
    }
}
