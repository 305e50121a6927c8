import Foundation
import Glibc

/// Searches for secrets in the memory of a process and in files: raw, as hexadecimal digits and as Base64.
///
/// It searches for pieces of 16 bytes of a secret, because freed memory may be partly overwritten.
struct MemorySearch {
    /// Whether this user may read another process's memory; root may.
    static let isPossible = geteuid() == 0

    private static let piece = 16
    private static let chunk = 1 << 20

    private struct Needle {
        let name: String
        let bytes: [UInt8]
    }

    private var needles: [Needle] = []
    /// Indexed by the first two bytes of a needle: whether there is such a needle, and the indices of these needles.
    private var isBeginning = [Bool](repeating: false, count: 65_536)
    private var byBeginning = [[Int]](repeating: [], count: 65_536)
    private var longest = 0

    /// Adds a secret to the search.
    ///
    /// - Parameters:
    ///   - name: the secret's name in findings.
    ///   - secret: at least 16 bytes that do not occur by chance.
    mutating func add(_ name: String, _ secret: some Sequence<UInt8>) {
        let secret = Array(secret)
        precondition(secret.count >= Self.piece, "\(name) has \(secret.count) bytes, expected 16 or more")
        let starts = Array(stride(from: 0, through: secret.count - Self.piece, by: Self.piece))
        for start in Set(starts + [secret.count - Self.piece]) {
            let piece = Array(secret[start..<start + Self.piece])
            // A piece of few different bytes, as in a header, occurs everywhere.
            guard Set(piece).count > 4 else { continue }
            for (form, bytes) in Self.forms(of: piece) { insert("\(name), byte \(start), \(form)", bytes) }
        }
    }

    private mutating func insert(_ name: String, _ bytes: [UInt8]) {
        let beginning = Int(bytes[0]) << 8 | Int(bytes[1])
        isBeginning[beginning] = true
        byBeginning[beginning].append(needles.count)
        needles.append(Needle(name: name, bytes: bytes))
        longest = max(longest, bytes.count)
    }

    /// - Returns: for each finding the mapping or file and the secret's name, at most 100.
    func findings(inMemoryOf process: Int32) throws -> [String] {
        let memory = try ProcessMemory(of: process)
        var findings: [String] = []
        for mapping in try memory.mappings() where mapping.permissions.hasPrefix("r") {
            // The code of programs and libraries contains no secrets, because the process cannot write it.
            guard !mapping.permissions.hasPrefix("r-xp") || mapping.name == nil else { continue }
            search(memory.descriptor, from: mapping.start, to: mapping.end) {
                findings.append("memory \(mapping.name ?? ""): \($0)")
            }
        }
        return Array(findings.prefix(100))
    }

    /// Searches every regular file below a directory.
    func findings(inFilesBelow directory: String) throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: directory)
        return try names.flatMap { name in
            let path = "\(directory)/\(name)"
            let kind = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            return kind == .typeRegular ? try findings(inFile: path) : []
        }
    }

    func findings(inFile path: String) throws -> [String] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw CocoaError(.fileReadNoSuchFile) }
        defer { close(file) }
        let size = lseek(file, 0, SEEK_END)
        guard size >= 0 else { throw CocoaError(.fileReadUnknown) }
        var findings: [String] = []
        search(file, from: 0, to: UInt64(size)) { findings.append("\(path): \($0)") }
        return Array(findings.prefix(100))
    }

    /// Searches in chunks. Each begins with the end of the one before, so that a secret on the border is found too.
    private func search(_ file: Int32, from start: UInt64, to end: UInt64, _ found: (String) -> Void) {
        guard longest > 0 else { return }
        var buffer = [UInt8](repeating: 0, count: Self.chunk)
        var offset = start
        while offset < end {
            let wanted = min(Self.chunk, Int(end - offset))
            let count = pread(file, &buffer, wanted, off_t(truncatingIfNeeded: offset))
            guard count > 0 else {
                // The mapping has no page here.
                offset += 4096
                continue
            }
            buffer.withUnsafeBufferPointer { search($0[..<count], found) }
            guard offset + UInt64(count) < end else { return }
            offset += UInt64(max(4096, count - longest))
        }
    }

    private func search(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, _ found: (String) -> Void) {
        let bytes = UnsafeBufferPointer(rebasing: bytes)
        guard let first = bytes.baseAddress else { return }
        let (count, last) = (bytes.count, bytes.count - Self.piece)
        isBeginning.withUnsafeBufferPointer { isBeginning in
            var index = 0
            while index <= last {
                defer { index += 1 }
                let beginning = Int(first[index]) << 8 | Int(first[index + 1])
                guard isBeginning[beginning] else { continue }
                for number in byBeginning[beginning] {
                    let needle = needles[number].bytes
                    guard index + needle.count <= count else { continue }
                    if memcmp(first + index, needle, needle.count) == 0 { found(needles[number].name) }
                }
            }
        }
    }

    private static func forms(of piece: [UInt8]) -> [(String, [UInt8])] {
        let hex = piece.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined()
        var forms = [
            ("raw", piece), ("hexadecimal", Array(hex.utf8)), ("HEXADECIMAL", Array(hex.uppercased().utf8)),
        ]
        for shift in 0..<3 {
            // Leaves out the characters that also encode bits of the neighbouring bytes.
            let text = Data([UInt8](repeating: 0, count: shift) + piece).base64EncodedString()
            let core = text.filter { $0 != "=" }.dropFirst(shift == 0 ? 0 : shift + 1).dropLast()
            forms.append(("Base64", Array(core.utf8)))
            let urlSafe = core.replacing("+", with: "-").replacing("/", with: "_")
            if urlSafe != core { forms.append(("Base64url", Array(urlSafe.utf8))) }
        }
        return forms
    }
}
