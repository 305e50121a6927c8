import MerchantTestSupport

/// Settings whose values are valid one by one, but not together, or not on this machine.
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
        func one(_ description: String, _ name: String, _ file: String) -> SettingsMutation {
            let path = fixture.path(file)
            return mutation(number, "\(name): \(description)", .refused) { $0.set(name, path) }
        }
        let sockets = ["sockets.admin.path", "sockets.decryptor.path"].flatMap { name -> [SettingsMutation] in
            [
                one("too long", name, long), one("in a directory that does not exist", name, "nowhere/a.sock"),
                one("a regular file", name, "garbage"), one("a directory", name, "directory"),
                one("below a regular file", name, "garbage/a.sock"),
            ]
        }
        return sockets + [
            one("below a regular file", "state-directory", "garbage/state"),
            one("a regular file", "state-directory", "empty"),
            one("other users can enter it", "state-directory", "open-to-all"),
            one("too long for SQLite", "state-directory", Array(repeating: long, count: 4).joined(separator: "/")),
            one("a name that is too long", "state-directory", long + long + long),
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
        func one(_ description: String, _ verdict: Verdict, _ settings: [String: String]) -> SettingsMutation {
            mutation(number, "provisioning: \(description)", verdict) {
                for (name, value) in settings { $0[yaml: name] = value }
            }
        }
        func quoted(_ file: String) -> String { SettingsText.quoted(fixture.path(file)) }
        let enabled = "provisioning.enabled"
        let (command, url) = ("provisioning.activation.command", "provisioning.activation.url")
        return [
            one("on", .accepted, [enabled: "true"]), one("off", .accepted, [enabled: "false"]),
            one("a switch without a value", .refused, [enabled: "null"]),
            one("the sandbox's root", .accepted, ["provisioning.trust-roots": "[\(quoted("apple/root.pem"))]"]),
            one(
                "the sandbox's root in production", .refused,
                ["provisioning.trust-roots": "[\(quoted("apple/root.pem"))]", "environment": "production"]),
            one("a command", .accepted, [command: "[/bin/cat]"]),
            one("a command that does not exist", .accepted, [command: "[\(quoted("nowhere"))]"]),
            one("a relative command", .refused, [command: "[cat]"]),
            one("no command", .refused, [command: "[]"]),
            one("a loopback URL", .accepted, [url: "\"http://127.0.0.1:1/\""]),
            one("a URL of another machine", .refused, [url: "\"http://192.0.2.1/\""]),
            one("two hooks", .refused, [command: "[/bin/cat]", url: "\"http://127.0.0.1:1/\""]),
            one(
                "the path of the decryptor socket", .refused,
                [enabled: "true", "sockets.issuer.path": quoted("d\(number).sock")]),
            one(
                "a socket in a directory that does not exist", .refused,
                [enabled: "true", "sockets.issuer.path": quoted("nowhere/a.sock")]),
            one(
                "without it, the path of the issuer socket does not matter", .accepted,
                ["sockets.issuer.path": quoted("nowhere/a.sock")]),
        ]
    }

    private func masterKeys(_ number: Int) -> [SettingsMutation] {
        func one(_ description: String, _ verdict: Verdict, _ settings: [String: String]) -> SettingsMutation {
            mutation(number, "master key: \(description)", verdict) {
                for (name, value) in settings { $0[yaml: "master-key.\(name)"] = value }
            }
        }
        func quoted(_ file: String) -> String { SettingsText.quoted(fixture.path(file)) }
        return [
            one("a file of the wrong size", .refused, ["file": quoted("garbage")]),
            one("a directory", .refused, ["file": quoted("directory")]),
            one("in a directory that does not exist", .refused, ["file": quoted("nowhere/key")]),
            one("an empty path", .refused, ["file": "\"\""]),
            one("created by the first start", .accepted, ["file": quoted("key\(number)")]),
            one("a credential with the source file", .refused, ["credential": "mk"]),
            one("a command that does not exist", .refused, ["source": "command", "command": "[\(quoted("nowhere"))]"]),
            one(
                "a command that is not executable", .refused,
                ["source": "command", "command": "[\(quoted("garbage"))]"]),
            one(
                "a command that is a directory", .refused, ["source": "command", "command": "[\(quoted("directory"))]"]),
            one("a relative command", .refused, ["source": "command", "command": "[cat]"]),
            one("a previous key without a file", .refused, ["previous.source": "file"]),
            one("a previous key that is missing", .accepted, ["previous.file": quoted("nowhere")]),
            one(
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
        func one(_ description: String, _ verdict: Verdict, _ name: String, _ yaml: String?) -> SettingsMutation {
            mutation(number, "\(name): \(description)", verdict) { $0[yaml: name] = yaml }
        }
        func quoted(_ file: String) -> String { SettingsText.quoted(fixture.path(file)) }
        return [
            one("absent, but backup.every is set", .refused, "backup.directory", nil),
            one("does not exist", .accepted, "backup.directory", quoted("nowhere")),
            one("in a directory that does not exist", .accepted, "audit.head.file", quoted("nowhere/heads")),
            one("a directory", .refused, "audit.head.file", quoted("directory")),
            one("a file without heads", .refused, "audit.head.file", quoted("garbage")),
            one("does not exist", .accepted, "audit.head.syslog", quoted("nowhere")),
            one("too long", .refused, "audit.head.syslog", quoted(String(repeating: "x", count: 120))),
            one("absent", .refused, "portal.tls.certificate", nil),
            one("absent", .refused, "portal.tls.private-key", nil),
            one("other users can read it", .refused, "portal.tls.private-key", quoted("readable.key")),
            one("belongs to no certificate", .refused, "portal.tls.certificate", quoted("apple/root.pem")),
            one("not an address of this machine", .refused, "portal.listen", "\"192.0.2.1:0\""),
            one("no portal", .accepted, "portal.listen", nil),
            one("not an address of this machine", .refused, "metrics.listen", "\"192.0.2.1:9464\""),
            one("a port that the kernel chooses", .accepted, "metrics.listen", "\"127.0.0.1:0\""),
            mutation(number, "PostgreSQL with a password file that other users can read", .refused) {
                $0.set("store.kind", "postgresql")
                $0.set("store.postgresql.connection", "host=/run/postgresql")
                $0.set("store.postgresql.password-file", fixture.path("readable.key"))
            },
            one("without the kind postgresql", .refused, "store.postgresql.connection", "host=/run/postgresql"),
            mutation(number, "portal and metrics on one port", .refused) {
                $0.set("portal.listen", "127.0.0.1:45999")
                $0.set("metrics.listen", "0.0.0.0:45999")
            },
            one("not https", .refused, "apple.gateway.url", "http://localhost"),
            one("no name and address", .refused, "domain-check.resolve", "[shop]"),
            one("name and address", .accepted, "domain-check.resolve", "[\"shop.example.com=192.0.2.1:8443\"]"),
            one("without certificate", .refused, "apple.gateway.identity.private-key", quoted("portal.key")),
        ]
    }
}
