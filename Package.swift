// swift-tools-version: 6.2
import PackageDescription

// The modules stand in rows, lowest row first. A module imports only from lower rows, never from its own row.
// Only this file lists the rows. Tests/ArchitectureTests reads them here, and checks every import in Sources/.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil, sources: [String]? = nil,
    resources: [Resource]? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: path, sources: sources, resources: resources,
        swiftSettings: strict)
}

func program(
    _ name: String, _ dependencies: [Target.Dependency], linkerSettings: [LinkerSetting] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, swiftSettings: strict,
        // The dynamic loader resolves all functions at start. Otherwise it would resolve each function at its first
        // call, and save the vector registers to the stack meanwhile. These registers can contain recently copied
        // data, for example a card number.
        linkerSettings: linkerSettings + [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"])])
}

/// Links the Swift runtime statically, for a program that runs often and briefly: loading the runtime's dynamic
/// libraries takes half of the time in which `merchantkeyctl` starts. The named libraries are those that the static
/// Foundation uses.
let staticRuntime: [LinkerSetting] =
    [.unsafeFlags(["-static-stdlib"])]
    + ["CoreFoundation", "_FoundationCShims", "_FoundationCollections", "_FoundationICU", "swiftSynchronization"]
    .map { .linkedLibrary($0) }

/// Tests are compiled without optimization, because this halves the compile time. The code under test is optimized.
let testSettings = strict + [SwiftSetting.unsafeFlags(["-Onone"])]

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: testSettings)
}

extension Target.Dependency {
    static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
    static let asyncHTTPClient = product(name: "AsyncHTTPClient", package: "async-http-client")
    static let configuration = product(name: "Configuration", package: "swift-configuration")
    static let crypto = product(name: "Crypto", package: "swift-crypto")
    static let cryptoExtras = product(name: "CryptoExtras", package: "swift-crypto")
    static let grdb = product(name: "GRDB", package: "GRDB.swift")
    static let httpTypes = product(name: "HTTPTypes", package: "swift-http-types")
    static let hummingbird = product(name: "Hummingbird", package: "hummingbird")
    static let hummingbirdCore = product(name: "HummingbirdCore", package: "hummingbird")
    static let logging = product(name: "Logging", package: "swift-log")
    static let mustache = product(name: "Mustache", package: "swift-mustache")
    static let nioHTTPTypes = product(name: "NIOHTTPTypes", package: "swift-nio-extras")
    static let nioHTTPTypesHTTP1 = product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
    static let nioHTTPTypesHTTP2 = product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras")
    static let nioCore = product(name: "NIOCore", package: "swift-nio")
    static let nioEmbedded = product(name: "NIOEmbedded", package: "swift-nio")
    static let nioHPACK = product(name: "NIOHPACK", package: "swift-nio-http2")
    static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
    static let nioHTTP2 = product(name: "NIOHTTP2", package: "swift-nio-http2")
    static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
    static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
    static let nioTLS = product(name: "NIOTLS", package: "swift-nio")
    static let serviceLifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
    static let swiftASN1 = product(name: "SwiftASN1", package: "swift-asn1")
    static let tracing = product(name: "Tracing", package: "swift-distributed-tracing")
    static let unixSignals = product(name: "UnixSignals", package: "swift-service-lifecycle")
    static let x509 = product(name: "X509", package: "swift-certificates")
    static let yams = product(name: "Yams", package: "Yams")
}

let base: [Target] = [
    module("Vocabulary", [.crypto]),
    module("StrictJSON"),
    module("Secrets"),
    module("LocalSocket", [.nioCore]),
    module("HTTPKit", [.nioCore, .nioHTTP1, .logging, .tracing]),
    module("MetricsKit"),
    module("OutboundHTTP", [.asyncHTTPClient, .nioCore, .nioHTTP1, .nioPosix, .nioSSL]),
    .systemLibrary(name: "CLinux", path: "Sources/CLinux"),
    // No module imports this target. A program that depends on it is linked with its `free`, which overwrites memory.
    .target(name: "CWipingAllocator"),
    .systemLibrary(
        name: "CSQLite", path: "Sources/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CLibPQ", path: "Sources/CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    module(
        "Schema", path: "schema", sources: ["Schema.swift"],
        resources: [
            .embedInCode("migrations/v0001_initial.sql"), .embedInCode("claims/v0001_claims.sql"),
            .embedInCode("claims/v0002_nonces.sql"), .embedInCode("postgresql/v0001_postgresql.sql"),
            .embedInCode("postgresql/rights.sql"),
            .embedInCode("openapi.yaml"),
        ]),
    .systemLibrary(
        name: "CLibCrypto", path: "Sources/CLibCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
]

let domain: [Target] = [
    module("MerchantCore", ["Vocabulary", "Secrets", .crypto]),
    module("PaymentToken", ["Vocabulary", "StrictJSON", "Secrets", "CLibCrypto", .crypto]),
    module("PassProvisioning", ["Vocabulary", "StrictJSON", "Secrets", .crypto, .x509, .swiftASN1]),
    module("WireAPI", ["Vocabulary", "StrictJSON"]),
    // Runs other programs. It is in this row because it imports modules of the row below.
    module("ChildProgram", ["Secrets", "CLinux"]),
]

let useCases: [Target] = [
    module(
        "MerchantOperations",
        [
            "MerchantCore", "PaymentToken", "PassProvisioning", "WireAPI", "Vocabulary", "Secrets", "MetricsKit",
            .crypto, .tracing,
        ]),
    // What the stores share. It is in this row because it imports modules of the row below, and the stores import it.
    module("StoreCore", ["MerchantCore", "Vocabulary", .crypto]),
]

let servers: [Target] = [
    module(
        "ServerKit",
        [
            "MerchantOperations", "MerchantCore", "WireAPI", "Vocabulary", "StrictJSON", "LocalSocket", "HTTPKit",
            "MetricsKit", .nioCore, .nioHTTP1, .logging,
        ])
]

let restServers: [Target] = [
    module(
        "RESTKit",
        [
            "MerchantOperations", "MerchantCore", "WireAPI", "Vocabulary", "StrictJSON", "Secrets", "LocalSocket",
            "HTTPKit", "MetricsKit", "ServerKit", .hummingbird, .hummingbirdCore, .httpTypes, .nioCore, .nioPosix,
            .nioHTTP1, .nioHTTPTypes, .nioHTTPTypesHTTP1, .logging, .serviceLifecycle, .tracing,
        ])
]

// The styles, scripts and templates of the portal's pages are compiled into the program.
let portalStyles: [String] = ["base", "frame", "controls", "content", "charts", "screens"]
let portalTemplates: [String] = [
    "alert", "apple-activate", "apple-create", "bar-list", "confirm", "domains", "fleet", "fleet-merchant",
    "form-fields", "home", "invitation-created", "invitation-new", "invitations", "key-table", "key-timeline", "keys",
    "layout", "message", "search", "stepper", "upload", "week-chart",
]
let portalFiles: [String] =
    ["texts.json", "portal.js", "favicon.svg"] + portalStyles.map { "Styles/\($0).css" }
    + portalTemplates.map { "Templates/\($0).mustache" }
let portalPages: [Resource] = portalFiles.map { .embedInCode("Pages/Resources/\($0)") }

let edges: [Target] = [
    module(
        "AdminServer",
        [
            "MerchantOperations", "MerchantCore", "WireAPI", "Vocabulary", "Secrets", "LocalSocket", "HTTPKit",
            "MetricsKit", "ServerKit", "RESTKit", .hummingbird, .httpTypes, .nioCore, .logging, .serviceLifecycle,
        ]),
    module(
        "IssuerServer",
        [
            "MerchantOperations", "MerchantCore", "PassProvisioning", "WireAPI", "Vocabulary", "StrictJSON", "Secrets",
            "LocalSocket", "HTTPKit", "MetricsKit", "ServerKit", "RESTKit", .httpTypes, .nioCore, .logging,
            .serviceLifecycle,
        ]),
    module(
        "LocalHooks",
        [
            "MerchantOperations", "MerchantCore", "PassProvisioning", "Vocabulary", "StrictJSON", "Secrets",
            "ChildProgram", "OutboundHTTP",
        ]),
    module(
        "MetricsServer",
        [
            "MerchantCore", "LocalSocket", "HTTPKit", "MetricsKit", "ServerKit", .nioCore, .nioHTTP1, .nioPosix,
            .logging, .serviceLifecycle,
        ]),
    module(
        "PortalServer",
        [
            "MerchantOperations", "MerchantCore", "WireAPI", "Vocabulary", "StrictJSON", "Schema", "LocalSocket",
            "HTTPKit", "MetricsKit", "ServerKit", "RESTKit", "CLinux", .crypto, .hummingbird, .hummingbirdCore,
            .httpTypes, .mustache,
            .nioCore, .nioPosix, .nioHPACK, .nioHTTP1, .nioHTTP2, .nioHTTPTypes, .nioHTTPTypesHTTP1,
            .nioHTTPTypesHTTP2, .nioSSL, .nioTLS, .logging, .serviceLifecycle, .tracing,
        ], resources: portalPages),
    module(
        "DecryptorServer",
        [
            "MerchantOperations", "MerchantCore", "PaymentToken", "WireAPI", "Vocabulary", "StrictJSON", "Secrets",
            "LocalSocket", "HTTPKit", "MetricsKit", "ServerKit", .nioCore, .nioHTTP1, .nioPosix, .logging,
            .serviceLifecycle, .tracing,
        ]),
    module(
        "SQLiteStore",
        ["StoreCore", "MerchantCore", "Vocabulary", "Schema", "MetricsKit", "CSQLite", .grdb, .crypto]),
    module(
        "PostgresStore",
        ["StoreCore", "MerchantCore", "Vocabulary", "Secrets", "Schema", "MetricsKit", "CLibPQ", .crypto]),
    module(
        "KeyCustody",
        [
            "MerchantCore", "PaymentToken", "Vocabulary", "Secrets", "ChildProgram", "CLibCrypto", .crypto,
            .cryptoExtras, .x509, .swiftASN1,
        ]),
    module(
        "EventDelivery",
        [
            "MerchantOperations", "MerchantCore", "WireAPI", "Vocabulary", "OutboundHTTP", .crypto, .logging,
            .serviceLifecycle,
        ]),
    module(
        "MerchantKeyClient",
        ["WireAPI", "Vocabulary", "StrictJSON", .asyncHTTPClient, .nioCore, .nioHTTP1]),
    module(
        "AppleGateway",
        ["MerchantCore", "Vocabulary", "StrictJSON", "OutboundHTTP", "MetricsKit", .crypto, .nioPosix, .logging]),
]

let composition: [Target] = [
    module(
        "DaemonKit",
        [
            "AdminServer", "PortalServer", "IssuerServer", "LocalHooks", "MetricsServer", "AppleGateway",
            "DecryptorServer", "EventDelivery", "SQLiteStore", "PostgresStore", "ServerKit", "MetricsKit",
            "KeyCustody",
            "MerchantOperations",
            "MerchantCore", "PaymentToken", "PassProvisioning", "WireAPI", "Vocabulary", "Secrets", "LocalSocket",
            "HTTPKit", "OutboundHTTP", "Schema", "StoreCore",
            "CLinux",
            .configuration,
            .yams,
            .serviceLifecycle,
            .unixSignals, .logging, .argumentParser, .tracing,
        ]),
    module(
        "AdminCommands",
        [
            "MerchantKeyClient", "WireAPI", "PaymentToken", "PassProvisioning", "Vocabulary", "StrictJSON",
            .argumentParser, .crypto,
        ]),
    module(
        "SandboxKit",
        [
            "PassProvisioning", "Vocabulary", "StrictJSON", "Secrets", .crypto, .cryptoExtras, .x509, .swiftASN1,
            .argumentParser, .asyncHTTPClient, .nioCore, .nioHTTP1, .nioPosix, .nioSSL,
        ]),
]

let programs: [Target] = [
    program("merchantkeyd", ["DaemonKit", "CWipingAllocator"]),
    program("merchantkeyctl", ["AdminCommands"], linkerSettings: staticRuntime),
    program("applepay-sandbox", ["SandboxKit"]),
]

let testTargets: [Target] = [
    tests("VocabularyTests", ["Vocabulary"]),
    tests("StrictJSONTests", ["StrictJSON", "MerchantTestSupport"]),
    tests("SecretsTests", ["Secrets"]),
    tests("MerchantCoreTests", ["MerchantCore", "Vocabulary"]),
    tests(
        "PaymentTokenTests",
        ["PaymentToken", "SandboxKit", "MerchantTestSupport", "Secrets", "Vocabulary", .crypto, .cryptoExtras],
        resources: [.copy("Scripts")]),
    // Uses only the public API of the libraries, as other packages do.
    .testTarget(
        name: "PaymentTokenExampleTests", dependencies: ["PaymentToken", "MerchantKeyClient", .crypto],
        packageAccess: false, swiftSettings: testSettings),
    tests(
        "PassProvisioningTests",
        [
            "PassProvisioning", "MerchantTestSupport", "Secrets", "Vocabulary", .crypto, .cryptoExtras, .swiftASN1,
            .x509,
        ], resources: [.copy("Scripts")]),
    // Uses only the public API of the library, as other packages do.
    .testTarget(
        name: "PassProvisioningExampleTests", dependencies: ["PassProvisioning"], packageAccess: false,
        swiftSettings: testSettings),
    // Run by scripts/bench.
    .executableTarget(
        name: "TokenBench",
        dependencies: ["PaymentToken", "PassProvisioning", "Vocabulary", "CLibCrypto", .crypto],
        path: "Tests/TokenBench", swiftSettings: strict),
    // Built with libFuzzer by scripts/fuzz. Without libFuzzer, it runs its targets on files.
    .executableTarget(
        name: "TokenFuzz", dependencies: ["PaymentToken", "Secrets", "Vocabulary"], path: "Tests/TokenFuzz",
        swiftSettings: strict),
    tests(
        "KeyCustodyTests",
        ["KeyCustody", "MerchantTestSupport", "MerchantCore", "Vocabulary", "Secrets", .crypto, .cryptoExtras]),
    tests(
        "SandboxKitTests",
        ["SandboxKit", "PassProvisioning", "MerchantTestSupport", "Vocabulary", .crypto],
        resources: [.copy("Scripts")]),
    tests(
        "AdminCommandsTests",
        ["AdminCommands", "MerchantKeyClient", "MerchantTestSupport", "PaymentToken", "WireAPI", "Vocabulary"]),
    .target(
        name: "MerchantTestSupport",
        dependencies: [
            "MerchantOperations", "MerchantCore", "PaymentToken", "WireAPI", "Vocabulary", "Secrets", "CLinux", .yams,
        ],
        path: "Tests/MerchantTestSupport", resources: [.copy("Scripts")], swiftSettings: strict),
    tests("LocalSocketTests", ["LocalSocket", .nioCore, .nioEmbedded, .nioPosix]),
    tests(
        "IssuerServerTests",
        [
            "IssuerServer", "PassProvisioning", "SandboxKit", "RESTKit", "ServerKit", "HTTPKit", "MetricsKit",
            "LocalSocket", "MerchantTestSupport", "MerchantOperations", "MerchantCore", "WireAPI", "Vocabulary",
            .crypto, .logging, .httpTypes, .serviceLifecycle,
        ]),
    tests("MetricsKitTests", ["MetricsKit", "MerchantTestSupport"]),
    tests(
        "MetricsServerTests",
        [
            "MetricsServer", "MetricsKit", "ServerKit", "HTTPKit", "MerchantTestSupport", "MerchantOperations",
            "MerchantCore", .logging, .serviceLifecycle,
        ]),
    tests(
        "HTTPKitTests",
        ["HTTPKit", "LocalSocket", "MerchantTestSupport", .logging, .nioCore, .nioEmbedded, .nioHTTP1, .nioPosix]),
    tests("OutboundHTTPTests", ["OutboundHTTP"]),
    tests(
        "ServerKitTests",
        [
            "ServerKit", "HTTPKit", "LocalSocket", "MerchantTestSupport", "MerchantOperations", "MerchantCore",
            "Vocabulary", .logging, .nioCore,
        ]),
    tests(
        "RESTKitTests",
        [
            "RESTKit", "ServerKit", "HTTPKit", "MetricsKit", "LocalSocket", "MerchantTestSupport", "MerchantOperations",
            "MerchantCore", "Vocabulary", .hummingbird, .httpTypes, .logging, .nioCore, .nioEmbedded,
        ]),
    tests(
        "MerchantOperationsTests",
        [
            "MerchantOperations", "PaymentToken", "SandboxKit", "SQLiteStore", "MerchantTestSupport", "MerchantCore",
            "WireAPI", "Vocabulary", "Secrets", "MetricsKit", .crypto,
        ]),
    tests(
        "AdminServerTests",
        [
            "AdminServer", "RESTKit", "ServerKit", "HTTPKit", "MetricsKit", "LocalSocket", "MerchantTestSupport",
            "MerchantOperations", "MerchantCore", "WireAPI", "Vocabulary", .logging, .serviceLifecycle, .httpTypes,
            .yams, .nioCore, .nioEmbedded, .nioHTTP1, .nioHTTPTypes,
        ]),
    tests(
        "PortalServerTests",
        [
            "PortalServer", "RESTKit", "ServerKit", "HTTPKit", "MetricsKit", "LocalSocket", "MerchantTestSupport",
            "MerchantOperations", "MerchantCore", "WireAPI", "Vocabulary", .crypto, .logging, .serviceLifecycle,
            .hummingbirdCore, .httpTypes, .yams, .nioCore, .nioEmbedded, .nioPosix, .nioHTTP1, .nioHTTP2,
            .nioHTTPTypes, .nioSSL,
        ], resources: [.copy("Scripts")]),
    tests(
        "DecryptorServerTests",
        [
            "DecryptorServer", "HTTPKit", "MetricsKit", "MerchantTestSupport", "SandboxKit", "LocalSocket",
            "MerchantOperations",
            "MerchantCore", "PaymentToken", "WireAPI", "Vocabulary", "Secrets", .crypto, .logging, .nioCore, .nioHTTP1,
            .nioPosix, .serviceLifecycle,
        ]),
    tests(
        "SQLiteStoreTests",
        [
            "SQLiteStore", "MetricsKit", "MerchantTestSupport", "MerchantCore", "Vocabulary", "Schema", "CSQLite",
            .grdb,
            .crypto,
        ]),
    tests(
        "LocalHooksTests",
        [
            "LocalHooks", "MerchantOperations", "MerchantCore", "PassProvisioning", "MerchantTestSupport",
            "Vocabulary",
        ]),
    tests("ChildProgramTests", ["ChildProgram", "Secrets", "MerchantTestSupport"]),
    // One suite for each port of the store. Each runs on every implementation of the store.
    tests(
        "StoreContractTests",
        ["MerchantTestSupport", "SQLiteStore", "PostgresStore", "StoreCore", "MerchantCore", "Vocabulary"]),
    tests(
        "PostgresStoreTests",
        ["PostgresStore", "MerchantTestSupport", "MerchantCore", "Vocabulary", "Secrets", "Schema"]),
    tests(
        "DaemonKitTests",
        [
            "DaemonKit", "AppleGateway", "LocalHooks", "PassProvisioning", "PortalServer", "HTTPKit", "LocalSocket",
            "MerchantTestSupport", "MerchantOperations", "MerchantCore", "SQLiteStore", "Vocabulary", "WireAPI", .yams,
            .logging, .serviceLifecycle, .tracing,
        ]),
    tests(
        "EndToEndTests", ["MerchantTestSupport", "SandboxKit", "Vocabulary", .crypto], resources: [.copy("Scripts")]),
    tests(
        "AppleGatewayTests",
        [
            "AppleGateway", "OutboundHTTP", "KeyCustody", "SandboxKit", "MetricsKit", "MerchantTestSupport",
            "MerchantCore", "Vocabulary", .crypto, .logging, .nioCore, .nioHTTP1, .nioPosix, .nioSSL,
        ], resources: [.copy("Scripts")]),
    tests(
        "EventDeliveryTests",
        [
            "EventDelivery", "SQLiteStore", "MerchantTestSupport", "MerchantOperations", "MerchantCore", "WireAPI",
            "Vocabulary", .logging, .serviceLifecycle,
        ], resources: [.copy("Scripts")]),
    tests(
        "RollTests",
        [
            "MerchantTestSupport", "SQLiteStore", "MerchantOperations", "MerchantCore", "Vocabulary", "Secrets",
            .crypto,
        ]),
    tests("ArchitectureTests", []),
    tests(
        "DocumentationTests",
        [
            "DaemonKit", "ServerKit", "MerchantCore", "MerchantOperations", "MerchantTestSupport", "WireAPI", .yams,
        ],
        resources: [.copy("Scripts")]),
]

let package = Package(
    name: "merchantkeyd",
    products: [
        .executable(name: "merchantkeyd", targets: ["merchantkeyd"]),
        .executable(name: "merchantkeyctl", targets: ["merchantkeyctl"]),
        .executable(name: "applepay-sandbox", targets: ["applepay-sandbox"]),
        .library(name: "PaymentToken", targets: ["PaymentToken"]),
        .library(name: "PassProvisioning", targets: ["PassProvisioning"]),
        .library(name: "MerchantKeyClient", targets: ["MerchantKeyClient"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: base + domain + useCases + servers + restServers + edges + composition + programs + testTargets
)
