import MerchantTestSupport

/// Settings that the declarations alone do not decide: a value depends on other values, or on this machine.
extension SettingsMutations {
    func combinations(_ number: Int) -> [SettingsMutation] {
        paths(number) + masterKeys(number) + lists(number) + places(number) + provisioning(number)
    }

    private func mutation(
        _ number: Int, _ description: String, _ verdict: Verdict, _ change: (inout SettingsText) -> Void
    ) -> SettingsMutation {
        var settings = fixture.validSettings(number)
        change(&settings)
        return SettingsMutation(description: description, settings: settings, environment: [:], verdict: verdict)
    }

    private func paths(_ number: Int) -> [SettingsMutation] {
        let long = String(repeating: "x", count: 120)
        func wrongPath(_ description: String, _ name: String, _ file: String) -> SettingsMutation {
            let path = fixture.path(file)
            return mutation(number, "\(name): \(description)", .refused) { $0.set(name, path) }
        }
        let sockets = ["sockets.admin.path", "sockets.decryptor.path"].flatMap { name -> [SettingsMutation] in
            [
                wrongPath("too long", name, long),
                wrongPath("in a directory that does not exist", name, "nowhere/a.sock"),
                wrongPath("a regular file", name, "garbage"), wrongPath("a directory", name, "directory"),
                wrongPath("below a regular file", name, "garbage/a.sock"),
            ]
        }
        return sockets + [
            wrongPath("below a regular file", "state-directory", "garbage/state"),
            wrongPath("a regular file", "state-directory", "empty"),
            wrongPath("other users can enter it", "state-directory", "open-to-all"),
            wrongPath(
                "too long for SQLite", "state-directory", Array(repeating: long, count: 4).joined(separator: "/")),
            wrongPath("a name that is too long", "state-directory", long + long + long),
            mutation(number, "both sockets have one path", .refused) {
                $0[yaml: "sockets.decryptor.path"] = $0[yaml: "sockets.admin.path"]
            },
            mutation(number, "the default socket path is too long", .refused) {
                $0.set("state-directory", fixture.path("state-\(number)-\(String(repeating: "y", count: 90))"))
                $0[yaml: "sockets.admin.path"] = nil
            },
        ]
    }

    private func provisioning(_ number: Int) -> [SettingsMutation] {
        func variant(_ description: String, _ verdict: Verdict, _ settings: [String: String]) -> SettingsMutation {
            mutation(number, "provisioning: \(description)", verdict) {
                for (name, value) in settings { $0[yaml: name] = value }
            }
        }
        func quoted(_ file: String) -> String { SettingsText.quoted(fixture.path(file)) }
        let enabled = "provisioning.enabled"
        let (command, url) = ("provisioning.activation.command", "provisioning.activation.url")
        return [
            variant("on", .accepted, [enabled: "true"]), variant("off", .accepted, [enabled: "false"]),
            variant("a switch without a value", .refused, [enabled: "null"]),
            variant("the sandbox's root", .accepted, ["provisioning.trust-roots": "[\(quoted("apple/root.pem"))]"]),
            variant(
                "the sandbox's root in production", .refused,
                ["provisioning.trust-roots": "[\(quoted("apple/root.pem"))]", "environment": "production"]),
            variant("a command", .accepted, [command: "[/bin/cat]"]),
            variant("a command that does not exist", .accepted, [command: "[\(quoted("nowhere"))]"]),
            variant("a relative command", .refused, [command: "[cat]"]),
            variant("no command", .refused, [command: "[]"]),
            variant("a loopback URL", .accepted, [url: "\"http://127.0.0.1:1/\""]),
            variant("a URL of another machine", .refused, [url: "\"http://192.0.2.1/\""]),
            variant("two hooks", .refused, [command: "[/bin/cat]", url: "\"http://127.0.0.1:1/\""]),
            variant(
                "the path of the decryptor socket", .refused,
                [enabled: "true", "sockets.issuer.path": quoted("d\(number).sock")]),
            variant(
                "a socket in a directory that does not exist", .refused,
                [enabled: "true", "sockets.issuer.path": quoted("nowhere/a.sock")]),
            variant(
                "without it, the path of the issuer socket does not matter", .accepted,
                ["sockets.issuer.path": quoted("nowhere/a.sock")]),
        ]
    }

    private func masterKeys(_ number: Int) -> [SettingsMutation] {
        func variant(_ description: String, _ verdict: Verdict, _ settings: [String: String]) -> SettingsMutation {
            mutation(number, "master key: \(description)", verdict) {
                for (name, value) in settings { $0[yaml: "master-key.\(name)"] = value }
            }
        }
        func quoted(_ file: String) -> String { SettingsText.quoted(fixture.path(file)) }
        return [
            variant("a file of the wrong size", .refused, ["file": quoted("garbage")]),
            variant("a directory", .refused, ["file": quoted("directory")]),
            variant("in a directory that does not exist", .refused, ["file": quoted("nowhere/key")]),
            variant("an empty path", .refused, ["file": "\"\""]),
            variant("created by the first start", .accepted, ["file": quoted("key\(number)")]),
            variant("a credential with the source file", .refused, ["credential": "mk"]),
            variant(
                "a command that does not exist", .refused,
                ["source": "command", "command": "[\(quoted("nowhere"))]"]),
            variant(
                "a command that is not executable", .refused,
                ["source": "command", "command": "[\(quoted("garbage"))]"]),
            variant(
                "a command that is a directory", .refused, ["source": "command", "command": "[\(quoted("directory"))]"]),
            variant("a relative command", .refused, ["source": "command", "command": "[cat]"]),
            variant("a previous key without a file", .refused, ["previous.source": "file"]),
            variant("a previous key that is missing", .accepted, ["previous.file": quoted("nowhere")]),
            variant(
                "the previous key is the current one", .refused,
                ["file": quoted("key\(number)"), "previous.file": quoted("key\(number)")]),
        ]
    }

    private func lists(_ number: Int) -> [SettingsMutation] {
        func callers(_ verdict: Verdict, _ value: String) -> SettingsMutation {
            mutation(number, "callers: \(value)", verdict) { $0[yaml: "callers"] = value }
        }
        func webhooks(_ description: String, _ verdict: Verdict, _ entries: [String]) -> SettingsMutation {
            mutation(number, "webhooks: \(description)", verdict) {
                $0[yaml: "events.webhooks"] = "[\(entries.joined(separator: ", "))]"
            }
        }
        return [
            callers(.refused, ""), callers(.refused, "{}"), callers(.refused, "root"), callers(.refused, "[root]"),
            callers(.refused, "[{uid: 1, gid: 1}]"), callers(.refused, "[{permits: [read]}]"),
            callers(.refused, "[{uid: 1, permits: [reed]}]"), callers(.refused, "[{uid: 1, merchants: }]"),
            callers(.refused, "[{uid: 1, name: x}]"), callers(.accepted, "[]"),
            callers(.accepted, "[{gid: 1, permits: [read], merchants: [merchant.com.example]}]"),
            webhooks("http", .refused, [fixture.webhook(url: "http://127.0.0.1:1/")]),
            webhooks("without URL", .refused, ["{name: w}"]),
            webhooks("without secret", .refused, ["{url: \"https://example.com/\"}"]),
            webhooks("a secret that is missing", .refused, [fixture.webhook(secret: "nowhere")]),
            webhooks("two with one name", .refused, [fixture.webhook(), fixture.webhook()]),
            webhooks("two", .accepted, [fixture.webhook(), fixture.webhook(name: "v")]),
            webhooks("too many", .refused, (0..<17).map { fixture.webhook(name: "w\($0)") }),
        ]
    }

    private func places(_ number: Int) -> [SettingsMutation] {
        func variant(_ description: String, _ verdict: Verdict, _ name: String, _ yaml: String?) -> SettingsMutation {
            mutation(number, "\(name): \(description)", verdict) { $0[yaml: name] = yaml }
        }
        func quoted(_ file: String) -> String { SettingsText.quoted(fixture.path(file)) }
        return [
            variant("absent, but backup.every is set", .refused, "backup.directory", nil),
            variant("does not exist", .accepted, "backup.directory", quoted("nowhere")),
            variant("in a directory that does not exist", .accepted, "audit.head.file", quoted("nowhere/heads")),
            variant("a directory", .refused, "audit.head.file", quoted("directory")),
            variant("a file without heads", .refused, "audit.head.file", quoted("garbage")),
            variant("does not exist", .accepted, "audit.head.syslog", quoted("nowhere")),
            variant("too long", .refused, "audit.head.syslog", quoted(String(repeating: "x", count: 120))),
            variant("absent", .refused, "portal.tls.certificate", nil),
            variant("absent", .refused, "portal.tls.private-key", nil),
            variant("other users can read it", .refused, "portal.tls.private-key", quoted("readable.key")),
            variant("belongs to no certificate", .refused, "portal.tls.certificate", quoted("apple/root.pem")),
            variant("not an address of this machine", .refused, "portal.listen", "\"192.0.2.1:0\""),
            variant("no portal", .accepted, "portal.listen", nil),
            variant("not an address of this machine", .refused, "metrics.listen", "\"192.0.2.1:9464\""),
            variant("a port that the kernel chooses", .accepted, "metrics.listen", "\"127.0.0.1:0\""),
            mutation(number, "PostgreSQL with a password file that other users can read", .refused) {
                $0.set("store.kind", "postgresql")
                $0.set("store.postgresql.connection", "host=/run/postgresql")
                $0.set("store.postgresql.password-file", fixture.path("readable.key"))
            },
            variant("without the kind postgresql", .refused, "store.postgresql.connection", "host=/run/postgresql"),
            mutation(number, "portal and metrics on one port", .refused) {
                $0.set("portal.listen", "127.0.0.1:45999")
                $0.set("metrics.listen", "0.0.0.0:45999")
            },
            variant("not https", .refused, "apple.gateway.url", "http://localhost"),
            variant("no name and address", .refused, "domain-check.resolve", "[shop]"),
            variant("name and address", .accepted, "domain-check.resolve", "[\"shop.example.com=192.0.2.1:8443\"]"),
            variant("without certificate", .refused, "apple.gateway.identity.private-key", quoted("portal.key")),
        ]
    }
}
