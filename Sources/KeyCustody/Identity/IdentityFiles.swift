import Glibc
package import MerchantCore
import Secrets
import SwiftASN1
import Synchronization
package import Vocabulary
import X509

/// The source of the client certificate for TLS with Apple, if files hold the certificate and its private key: a
/// certificate in PEM or DER and a private key in PEM, or one PKCS#12 file with both.
///
/// Before every use this class checks the files' attributes, and reads changed files again. If changed files cannot be
/// read, for example because they are half written, the former identity stays in use.
package final class IdentityFiles: IdentitySource {
    /// The paths of the files. If `privateKey` is nil, the file `certificate` contains both the certificate and the
    /// private key.
    package struct Location: Hashable, Sendable {
        package var certificate: String
        package var privateKey: String?
        /// The path of a file whose first line is the private key's passphrase.
        package var passphrase: String?

        package init(certificate: String, privateKey: String?, passphrase: String?) {
            self.certificate = certificate
            self.privateKey = privateKey
            self.passphrase = passphrase
        }
    }

    private struct State {
        /// The attributes of the three files when they were last read; nil for a file that is absent or not set.
        var stamps: [FileStamp?]
        var identity: ClientIdentity
        /// Why the files could not be read after their last change; nil if the read succeeded.
        var readError: IdentityError?
    }

    private let location: Location
    private let state: Mutex<State>

    /// Reads the files at once, so that the daemon reports a wrong setting when it starts.
    package init(_ location: Location) throws(IdentityError) {
        self.location = location
        let stamps = Self.stamps(location)
        state = Mutex(State(stamps: stamps, identity: try Self.read(location), readError: nil))
    }

    /// - Parameter owner: must be the platform. A merchant's own identity is never in files.
    /// - Throws: `unusable` if the certificate is not valid at `time`.
    package func identity(of owner: IdentityOwner, at time: Timestamp) throws(IdentityError) -> ClientIdentity {
        guard owner == .platform else { throw .noKey(of: owner) }
        let stamps = Self.stamps(location)
        let current = state.withLock { state -> State in
            if state.stamps != stamps {
                state.stamps = stamps
                do throws(IdentityError) {
                    state.identity = try Self.read(location)
                    state.readError = nil
                } catch { state.readError = error }
            }
            return state
        }
        let identity = current.identity
        guard time >= identity.notBefore else {
            throw .unusable(
                "the identity certificate in \(location.certificate) is not valid before \(identity.notBefore)")
        }
        guard time <= identity.notAfter else {
            let readErrorText =
                current.readError.map { "; the files have changed since, but cannot be used: \($0)" } ?? ""
            throw .unusable(
                "the identity certificate in \(location.certificate) expired at \(identity.notAfter): replace it\(readErrorText)"
            )
        }
        return identity
    }

    /// Why the files could not be read after their last change; nil if the read succeeded.
    package var readError: String? { state.withLock { $0.readError?.description } }

    private static func stamps(_ location: Location) -> [FileStamp?] {
        [location.certificate, location.privateKey, location.passphrase].map { $0.flatMap(FileStamp.init) }
    }
}

extension IdentityFiles {
    private static func read(_ location: Location) throws(IdentityError) -> ClientIdentity {
        let keyPath = location.privateKey ?? location.certificate
        let keyFile = try bytes(keyPath)
        let passphrase = try passphrase(location)
        do {
            let parts = try PrivateKeyFile.readIdentity(keyFile, passphrase: passphrase)
            // If the certificate has its own file, certificates in the key's file are ignored.
            var chain = parts.certificates
            if chain.isEmpty || keyPath != location.certificate {
                chain = try certificates(in: bytes(location.certificate))
            }
            return try identity(chain, parts.signingKey, named: location.certificate)
        } catch let error as MerchantError {
            throw .unusable("the identity in \(keyPath): \(error.detail)")
        } catch let error as IdentityError {
            throw error
        } catch {
            throw .unusable("the identity in \(keyPath) cannot be read")
        }
    }

    private static func identity(
        _ chain: [[UInt8]], _ key: SigningKey, named path: String
    ) throws -> ClientIdentity {
        let hash = PublicKeyHash(of: key.subjectPublicKeyInfo)
        // A CA of the chain may have a type of key that `CertificateFacts` refuses. Such CAs are skipped here.
        let facts = chain.compactMap { try? CertificateFacts(upload: $0) }
        guard let own = facts.first(where: { $0.publicKeyHash == hash }) else {
            throw IdentityError.unusable(
                "no certificate in \(path) belongs to the private key \(hash)\(facts.first.map { ": the first certificate is for \($0.publicKeyHash)" } ?? "")"
            )
        }
        // If the extension is absent, every use is allowed (RFC 5280 section 4.2.1.12).
        if let usages = own.extendedKeyUsages, !usages.contains(clientAuthentication) {
            throw IdentityError.unusable(
                "the certificate in \(path) is not for client authentication: its extended key usages are \(usages.joined(separator: ", ")), expected \(clientAuthentication)"
            )
        }
        // A TLS client does not send root certificates, because a server that trusts a root already has its
        // certificate.
        let others = chain.filter { der in
            guard der != own.der, let certificate = try? Certificate(derEncoded: der) else { return false }
            return certificate.subject != certificate.issuer
        }
        return ClientIdentity(
            certificateChain: [own.der] + others, publicKeyHash: hash, notBefore: own.notBefore,
            notAfter: own.notAfter, signatureAlgorithms: key.tlsAlgorithms
        ) { algorithm, bytes in try key.tlsSignature(over: bytes, algorithm) }
    }

    /// id-kp-clientAuth.
    private static let clientAuthentication = "1.3.6.1.5.5.7.3.2"
    /// In bytes.
    private static let longestFile = 64 * 1024

    /// Returns only the certificates. The file may also contain the private key, which must not be copied.
    private static func certificates(in file: borrowing SecretBytes) throws(MerchantError) -> [[UInt8]] {
        try file.withUnsafeBytes { bytes throws(MerchantError) -> [[UInt8]] in
            guard PEMText.isFound(in: bytes) else { return [Array(bytes)] }
            let text = PEMText(reading: bytes)
            var found: [[UInt8]] = []
            while let block = try text.next() {
                if block.label == "CERTIFICATE" { found.append(Array(block.bytes)) }
            }
            return found
        }
    }

    /// Returns the first line of the passphrase file, without the line end; empty if no passphrase file is set.
    private static func passphrase(_ location: Location) throws(IdentityError) -> SecretBytes {
        guard let path = location.passphrase else { return SecretBytes(copying: []) }
        let file = try bytes(path)
        return file.withUnsafeBytes { SecretBytes(copying: $0.prefix { $0 != 0x0A && $0 != 0x0D }) }
    }

    /// - Parameters:
    ///   - name: how an error names the file.
    ///   - forbidden: permissions that the file must not have.
    static func bytes(
        _ path: String, named name: String = "the identity file", withoutPermissions forbidden: mode_t = 0
    ) throws(IdentityError) -> SecretBytes {
        // O_NONBLOCK: opening a FIFO would otherwise block until another process writes to it.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw .unusable("\(name) \(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var found = stat()
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            throw .unusable("\(name) \(path) is not a regular file: check the path in the settings")
        }
        guard found.st_mode & forbidden == 0 else {
            throw .unusable(
                "\(name) \(path) has mode 0\(String(found.st_mode & 0o7777, radix: 8)), so other users can access the private key; run chmod 0600 \(path)"
            )
        }
        let size = Int(found.st_size)
        guard size <= longestFile else {
            throw .unusable("\(name) \(path) has \(size) bytes, expected at most \(longestFile)")
        }
        var filled = 0
        let file = SecretBytes(count: size) { memory in
            while filled < memory.count {
                let count = Glibc.read(descriptor, memory.baseAddress?.advanced(by: filled), memory.count - filled)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return }
                filled += count
            }
        }
        guard filled == size else {
            throw .unusable("\(name) \(path) was changed while it was read")
        }
        return file
    }
}

/// Attributes of a file. The attributes change when the file is written or replaced.
private struct FileStamp: Hashable, Sendable {
    private let size: Int
    private let inode: UInt
    private let seconds: Int
    private let nanoseconds: Int

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        size = Int(status.st_size)
        inode = UInt(status.st_ino)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
