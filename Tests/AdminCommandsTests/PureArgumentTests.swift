import AdminCommands
import MerchantKeyClient
import Testing
import Vocabulary

@Suite("Arguments")
struct PureArgumentTests {
    @Test(
        "A duration is a number and a unit",
        arguments: [("30d", 2_592_000), ("12h", 43_200), ("15m", 900), ("45s", 45), ("0s", 0), ("007s", 7)])
    func durations(text: String, seconds: Int) throws {
        #expect(try DurationArgument.parse(text).seconds == seconds)
    }

    @Test(
        "Text that is not a duration is refused",
        arguments: [
            "", "d", "30", "-1d", "+1d", "1.5h", "1w", "1 d", "30D", "1h30m", "９s", "99999999999999999999d",
            "200000000000000d",
        ])
    func noDurations(text: String) {
        #expect(throws: (any Error).self) { try DurationArgument.parse(text) }
    }

    @Test("Each of the three spellings of a publicKeyHash is read as the whole hash")
    func spellings() throws {
        let hash = try #require(PublicKeyHash(base64: Samples.hash))
        for text in [hash.base64, hash.base64URL, hash.hex, hash.hex.uppercased()] {
            #expect(try KeyArgument.parse(text) == .hash(hash))
        }
    }

    @Test("Less than a whole hash is a prefix", arguments: ["aXry", "cA7n/gps", "aXr+", "_-aa", "0123456789abcdef"])
    func prefixes(text: String) throws {
        #expect(try KeyArgument.parse(text) == .prefix(text))
    }

    @Test(
        "Text that can't be the prefix of a publicKeyHash is refused",
        arguments: ["", "abc", "ab cd", "abcd=", "abcdé", String(repeating: "a", count: 65), "../../x"])
    func noKeys(text: String) {
        #expect(throws: (any Error).self) { try KeyArgument.parse(text) }
    }

    @Test("A time has a date, a time and an offset")
    func times() throws {
        #expect(try Timestamp.parse("2023-03-20T20:46:55Z").rfc3339 == "2023-03-20T20:46:55Z")
        #expect(throws: (any Error).self) { try Timestamp.parse("yesterday") }
    }

    @Test(
        "One line end after a passphrase is ignored, and nothing else",
        arguments: [("a b\n", "a b"), ("a\r\n", "a"), ("a\n\n", "a\n"), (" a ", " a ")])
    func passphrases(text: String, passphrase: String) throws {
        let program = try Program()
        defer { program.remove() }
        #expect(try Passphrase.read(InputFile(try program.write(text, to: "p"))) == passphrase)
    }
}

@Suite("Where the sockets are")
struct SocketLocationTests {
    /// - Parameter existing: the files that exist; nil if every file does.
    private static func admin(
        _ option: String?, _ variables: SocketLocation.Variables, existing: Set<String>? = nil
    ) throws -> String {
        try SocketLocation(environment: variables).adminSocket(option: option) { existing?.contains($0) ?? true }
    }

    @Test("The option takes precedence over MERCHANTKEYD_SOCKET, then XDG_STATE_HOME, then HOME")
    func order() throws {
        let all = SocketLocation.Variables(socket: "/s", stateHome: "/x", home: "/h")
        #expect(try Self.admin("/o", all) == "/o")
        #expect(try Self.admin(nil, all) == "/s")
        #expect(try Self.admin(nil, .init(stateHome: "/x", home: "/h")) == "/x/merchantkeyd/admin.sock")
        #expect(try Self.admin(nil, .init(home: "/h")) == "/h/.local/state/merchantkeyd/admin.sock")
    }

    @Test("An empty variable and a relative XDG_STATE_HOME count as unset")
    func unset() throws {
        #expect(try Self.admin(nil, .init(socket: "", stateHome: "", home: "/h")).hasPrefix("/h/"))
        #expect(try Self.admin(nil, .init(stateHome: "x", home: "/h")).hasPrefix("/h/"))
    }

    @Test func `without a socket of the user's own daemon, the installed package's socket is used`() throws {
        let (own, system) = ("/h/.local/state/merchantkeyd/admin.sock", "/run/merchantkeyd/admin.sock")
        #expect(try Self.admin(nil, .init(home: "/h"), existing: [own, system]) == own)
        #expect(try Self.admin(nil, .init(home: "/h"), existing: [system]) == system)
        #expect(try Self.admin(nil, .init(), existing: [system]) == system)
        // A socket that the user names is used even if it does not exist, so that the error names it.
        #expect(try Self.admin("/o", .init(home: "/h"), existing: [system]) == "/o")
        #expect(try Self.admin(nil, .init(socket: "/s", home: "/h"), existing: [system]) == "/s")
    }

    @Test func `if no socket exists, the error names both paths`() throws {
        let error = #expect(throws: ClientError.self) { try Self.admin(nil, .init(home: "/h"), existing: []) }
        let text = try #require(error).description
        #expect(text.contains("/h/.local/state/merchantkeyd/admin.sock") && text.contains(SocketLocation.systemSocket))
    }

    @Test("The decryptor socket is beside the admin socket, unless an option names it")
    func decryptor() throws {
        func decryptor(_ option: String?, _ admin: String?, existing: Set<String> = []) throws -> String {
            try SocketLocation(environment: .init(home: "/h")).decryptorSocket(option: option, adminOption: admin) {
                existing.contains($0)
            }
        }
        #expect(try decryptor(nil, "/a/b/admin.sock") == "/a/b/decryptor.sock")
        #expect(try decryptor(nil, "admin.sock") == "decryptor.sock")
        #expect(try decryptor("/d", "/a/admin.sock") == "/d")
        let system = "/run/merchantkeyd/decryptor.sock"
        #expect(try decryptor(nil, nil, existing: [system]) == system)
    }

    @Test func `without --config, commands that need no daemon read the settings of the daemon that status queries`() {
        let (own, settings) = ("/h/.local/state/merchantkeyd", SocketLocation.systemSettings)
        func file(_ existing: Set<String>, option: String? = nil, socket: String? = nil) -> String? {
            SocketLocation(environment: .init(socket: socket, home: "/h")).settingsFile(socketOption: option) {
                existing.contains($0)
            }
        }
        #expect(file([settings]) == settings)
        #expect(file([]) == nil)
        #expect(file([settings, SocketLocation.systemSocket]) == settings)
        // The user's own daemon runs, or has run.
        #expect(file([settings, SocketLocation.systemSocket, own, "\(own)/admin.sock"]) == nil)
        #expect(file([settings, own]) == nil)
        #expect(file([settings, own, SocketLocation.systemSocket]) == settings)
        #expect(file([settings], option: "/other") == nil)
        #expect(file([settings, own], option: SocketLocation.systemSocket) == settings)
        #expect(file([settings, own], socket: SocketLocation.systemSocket) == settings)
    }
}
