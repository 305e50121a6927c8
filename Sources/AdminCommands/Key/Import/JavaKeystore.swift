import Foundation

/// A Java keystore. This program reads the keystore with `keytool` of a Java runtime, because the format JKS is
/// specific to Java.
struct JavaKeystore {
    /// A private key with its certificate chain, as PKCS#12.
    struct Entry {
        let alias: String
        let pkcs12: Data
        /// The passphrase of ``pkcs12``, which is random.
        let passphrase: String
    }

    static let suffixes = [".jks", ".jceks", ".keystore", ".ks"]
    /// The largest keystore, in bytes.
    static let sizeLimit = 16 << 20

    let path: String
    let passphrase: String

    /// The private keys of the keystore.
    ///
    /// - Throws: ``CommandFailure`` if keytool is not installed or can't read the keystore, or if the keystore contains
    ///   no private key.
    func entries() throws(CommandFailure) -> [Entry] {
        var entries: [Entry] = []
        for alias in try aliases() { entries.append(try entry(alias)) }
        guard !entries.isEmpty else {
            throw CommandFailure(.failed, "the keystore contains no private key (entry type PrivateKeyEntry)")
        }
        return entries
    }

    private func aliases() throws(CommandFailure) -> [String] {
        let list = try Self.keytool(
            ["-list", "-v", "-keystore", path, "-storepass:env", Self.sourceVariable],
            [Self.sourceVariable: passphrase])
        var aliases: [String] = []
        var alias: Substring?
        for line in list.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("Alias name: ") { alias = line.dropFirst("Alias name: ".count) }
            if line == "Entry type: PrivateKeyEntry", let found = alias { aliases.append(String(found)) }
        }
        return aliases
    }

    /// Exports one entry as PKCS#12. keytool writes the entry to a file in a temporary directory that only this user
    /// can enter. The directory is removed before this method returns.
    private func entry(_ alias: String) throws(CommandFailure) -> Entry {
        let directory = FileManager.default.temporaryDirectory.appending(path: "merchantkeyctl-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure(.failed, "can't create the temporary directory \(directory.path)")
        }
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "entry.p12").path
        let newPassphrase = UUID().uuidString
        _ = try Self.keytool(
            [
                "-importkeystore", "-noprompt", "-srckeystore", path, "-srcalias", alias, "-srcstorepass:env",
                Self.sourceVariable, "-srckeypass:env", Self.sourceVariable, "-destkeystore", file, "-deststoretype",
                "PKCS12", "-deststorepass:env", Self.targetVariable, "-destkeypass:env", Self.targetVariable,
            ], [Self.sourceVariable: passphrase, Self.targetVariable: newPassphrase])
        return Entry(alias: alias, pkcs12: try InputFile(file).read(), passphrase: newPassphrase)
    }

    /// The environment variables with the passphrases. Other users can see a command line, but not the environment.
    private static let sourceVariable = "MERCHANTKEYCTL_SOURCE_PASSPHRASE"
    private static let targetVariable = "MERCHANTKEYCTL_TARGET_PASSPHRASE"

    /// Runs keytool, and returns its standard output.
    private static func keytool(
        _ arguments: [String], _ variables: [String: String]
    ) throws(CommandFailure) -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // The output is parsed, so it must be in English.
        process.arguments = ["keytool", "-J-Duser.language=en"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
            .filter { $0.key != "JAVA_TOOL_OPTIONS" }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        do { try process.run() } catch {
            throw CommandFailure(.failed, "can't run /usr/bin/env to find keytool: \(error.localizedDescription)")
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        // The exit status of env(1) for a program that it does not find.
        guard process.terminationStatus != 127 else {
            throw CommandFailure(
                .failed,
                "a Java keystore needs 'keytool', which is not installed; install a Java runtime, or convert the keystore to PKCS#12 on another machine: keytool -importkeystore -srckeystore FILE -destkeystore FILE.p12 -deststoretype PKCS12"
            )
        }
        guard process.terminationStatus == 0 else {
            let reason = text.split(whereSeparator: \.isNewline).first { $0.contains("rror") } ?? "no reason given"
            throw CommandFailure(.failed, "keytool can't read the keystore: \(reason)")
        }
        return text
    }
}
