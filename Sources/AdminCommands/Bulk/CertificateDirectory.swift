import Foundation

/// The files of a directory that a certificate may be in: `.cer`, `.crt`, `.pem`, `.der`, by name.
enum CertificateDirectory {
    /// - Returns: nil where the path is no directory.
    static func files(in path: String) throws(CommandFailure) -> [String]? {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
            return nil
        }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
            throw CommandFailure(.refused, "can't read the directory \(path)")
        }
        let files = names.filter { name in
            [".cer", ".crt", ".pem", ".der"].contains { name.lowercased().hasSuffix($0) }
        }
        guard !files.isEmpty else {
            throw CommandFailure(.refused, "\(path) is a directory without .cer, .crt, .pem or .der files")
        }
        return files.sorted().map { "\(path)/\($0)" }
    }
}
