import AdminServer
import DecryptorServer
import EventDelivery
import HTTPKit
import IssuerServer
import Logging
import MerchantCore
import MerchantOperations
import MetricsKit
import MetricsServer
import PortalServer
import Schema
import ServerKit
import ServiceLifecycle
import Vocabulary
import WireAPI

/// The services that the daemon runs.
struct DaemonServices {
    let parts: DaemonParts
    let startRecord: StartRecord

    /// All services in the order of their start. At a shutdown they stop in reverse order, one after the other: first
    /// the notifications, which report the shutdown to systemd, then the servers by the steps of ``ShutdownBudget``.
    /// Services that stop after the servers store what is only in memory, such as the uses of keys by the last
    /// requests.
    var all: [any Service] {
        let groups: [[any Service]] = [
            parts.backend.leases(parts), watchdog, signals, storing, schedule, events, merchantTokens, auditHeads,
            checks,
            parts.backend.backupServices(parts), sessionExpiry,
            [decryptorServer, SimultaneousServices(otherServers)], notifications,
        ]
        return groups.flatMap { $0 }
    }

    private var operations: Operations { parts.operations }
    /// Returns the beginning of every link to the portal; nil if there is no portal, or if it does not listen yet.
    private var portalURL: @Sendable () -> String? {
        { [address = parts.portal?.address] in address?.url }
    }
    private var settings: Settings { parts.settings }
    private var live: LiveSettings { parts.live }
    private var lifecycle: Lifecycle { parts.lifecycle }
    private var store: any DaemonStore { parts.observedStore.store }
    private var clock: any WallClock { parts.observedStore.clock }
    private var activeFindings: ActiveFindings { parts.activeFindings }
    private var caller: Caller { parts.caller }
    private var logger: Logger { parts.logger }
    /// While this lease is valid, this daemon is the leader: it does the work that only one of the daemons on a
    /// database may do.
    private var leaderLease: Lease { parts.backend.leaderLease }

    /// The services that write data from memory to the database, at intervals and at a shutdown.
    private var storing: [any Service] {
        [
            Recurring(
                every: .seconds(10),
                ClockCheck(
                    operations: operations.clock, monitoring: operations.monitoring, activeFindings: activeFindings,
                    logger: logger)),
            Recurring(
                every: .seconds(3), start: .afterOneInterval,
                KeyUseStorage(
                    operations: operations.keyUses, nodes: parts.backend.nodes, caller: caller, logger: logger)),
            Recurring(
                every: .seconds(3), start: .afterOneInterval,
                MerchantTokenPaymentStorage(operations: operations.merchantTokenPayments, logger: logger)),
            Recurring(
                every: RefusalRecording.shortestPause, start: .afterOneInterval,
                RefusalRecording(operations: operations.refusalAudit, caller: caller, logger: logger)),
            Recurring(
                every: ValidationURLAudit.interval, start: .afterOneInterval,
                ValidationURLRecording(audit: operations.validationURLAudit, caller: caller, logger: logger)),
        ]
    }

    /// The services that change keys, rolls and registrations without a request, and the rotation of the master key.
    private var schedule: [any Service] {
        [
            Recurring(
                every: .seconds(60), with: leaderLease,
                KeyDestruction(
                    operations: operations.transitions, caller: caller,
                    eraseIfDue: { [backend = parts.backend] in try await backend.eraseIfDue() }, logger: logger)),
            Recurring(
                every: .seconds(60), with: leaderLease,
                RollSchedule(operations: operations.renewals, caller: caller, logger: logger)),
            Recurring(
                every: .seconds(15), with: leaderLease,
                RegistrationResolver(operations: operations.openCalls, caller: caller, logger: logger)),
            parts.rotation,
        ]
    }

    private var events: [any Service] {
        [
            Recurring(
                every: .seconds(3_600), with: leaderLease,
                EventExpiry(
                    operations: operations.events, retention: live.value { $0.eventRetention }, logger: logger)),
            LeaderOnly(
                leaderLease,
                EventDelivery(
                    to: live.value { $0.webhooks }, deliveries: operations.deliveries, notifier: operations.notifier,
                    logger: logger)),
        ]
    }

    private var merchantTokens: [any Service] {
        [
            Recurring(
                every: .seconds(600), with: leaderLease,
                TokenNotificationExpiry(operations: operations.tokenEvents, logger: logger)),
            LeaderOnly(
                leaderLease,
                TokenEventFetcher(
                    operations: operations.tokenEvents, arrivals: operations.tokenNotificationArrivals,
                    changedKeys: parts.observedStore.caches.changedKeys, caller: caller, logger: logger)),
        ]
    }

    private var auditHeads: [any Service] { shipping + headEvents }

    private var headEvents: [any Service] {
        guard let interval = settings.auditHead.eventInterval else { return [] }
        return [Recurring(every: interval, with: leaderLease, HeadEvents(operations: operations.audit, logger: logger))]
    }

    private var shipping: [any Service] {
        guard
            let shipping = HeadShipping(
                settings: settings.auditHead, operations: operations.audit, clock: clock,
                activeFindings: activeFindings,
                logger: logger)
        else { return [] }
        return [
            Recurring(
                every: HeadShippingWatch.timeLimit,
                HeadShippingWatch(
                    progress: shipping.progress, settings: settings.auditHead, activeFindings: activeFindings,
                    logger: logger)),
            Recurring(every: settings.auditHead.interval, mayBlock: true, shipping),
        ]
    }

    private var checks: [any Service] {
        parts.backend.checks(parts) + [
            Recurring(every: .seconds(2), mayBlock: true, StartRecordRetry(startRecord: startRecord)),
            Recurring(every: .seconds(5), start: .afterOneInterval, mayBlock: true, FreeMemoryReturn(logger: logger)),
            Recurring(
                every: .seconds(2), mayBlock: true,
                RequiredFilesCheck(
                    lock: parts.lock, lockPath: settings.lockPath,
                    masterKey: MasterKeyPresence(settings: settings.masterKey, store: store),
                    activeFindings: activeFindings, logger: logger)),
        ]
    }

    /// Empty if the settings define no portal.
    private var sessionExpiry: [any Service] {
        guard parts.portalServer != nil else { return [] }
        return [
            Recurring(
                every: .seconds(600), with: leaderLease,
                SessionExpiry(operations: operations.portalSessions, logger: logger))
        ]
    }

    /// Empty if the settings define no portal.
    private var portal: [any Service] {
        guard let server = parts.portalServer else { return [] }
        return [server]
    }

    /// Empty if the settings define no port for metrics.
    private var metrics: [any Service] {
        guard let listen = settings.metrics?.listen else { return [] }
        return [
            MetricsServer(
                address: MetricsServer.Address(host: listen.host, port: listen.port),
                report: MetricsReport(
                    monitoring: operations.monitoring, masterKey: operations.masterKey,
                    sources: [parts.requestMetrics as any MetricsSource] + parts.metricsSources,
                    version: Program.version,
                    startedAt: parts.startedAt),
                isReady: { [health = parts.health] in health().ready }, requests: parts.requestMetrics,
                problems: ProblemReporter(
                    log: LimitedLog(logger), integrityFindings: operations.integrity, refusalLevel: .debug,
                    forbiddenLevel: .debug),
                accessLog: parts.accessLog, logger: logger)
        ]
    }

    private var decryptorServer: any Service {
        DecryptorServer(
            socket: parts.sockets.decryptor, operations: operations.paymentTokens,
            sessions: operations.merchantSessions, mpans: operations.mpans, refusals: operations.refusals,
            integrity: operations.integrity, policy: live.value { $0.callers }, health: parts.health,
            openAPI: Schema.openAPI,
            responses: parts.observedStore.caches.keyResponses, requests: parts.requestMetrics,
            accessLog: parts.accessLog,
            loopProbe: lifecycle.loopProbe, logger: logger,
            onListening: { [servers = lifecycle.servers] in servers.didStartListening(.decryptor) })
    }

    /// Empty if the settings define no in-app provisioning.
    private var issuer: [any Service] {
        guard let provisioning = operations.provisioning, let socket = parts.sockets.issuer else { return [] }
        return [
            IssuerServer(
                socket: socket, operations: provisioning, refusals: operations.refusals,
                integrity: operations.integrity, policy: live.value { $0.callers }, health: parts.health,
                openAPI: Schema.openAPI, requests: parts.requestMetrics, accessLog: parts.accessLog, logger: logger,
                onListening: { [servers = lifecycle.servers] in servers.didStartListening(.issuer) })
        ]
    }

    /// The servers of the step ``ShutdownBudget/Step/otherServers``.
    private var otherServers: [any Service] {
        metrics + portal + issuer + [
            AdminServer(
                socket: parts.sockets.admin,
                operations: AdminOperations(
                    from: operations, portalURL: portalURL,
                    tokenNotificationPrefix: settings.merchantTokens.notifications.prefix.text,
                    readsClientCertificates: { [certificates = parts.portal?.certificates] in
                        certificates?.readsClientCertificates ?? false
                    },
                    reload: { [reload = parts.reload] in try await reload.run(dryRun: $0, for: $1) }),
                policy: live.value { $0.callers },
                health: parts.health,
                version: Program.version, startedAt: parts.startedAt, openAPI: Schema.openAPI,
                requests: parts.requestMetrics, metricsSources: parts.metricsSources, accessLog: parts.accessLog,
                logger: logger,
                onListening: { [servers = lifecycle.servers] in servers.didStartListening(.admin) })
        ]
    }

    // MARK: systemd and signals

    private var notifier: SystemdNotifier { lifecycle.systemd.notifier }

    private var signals: [any Service] {
        [
            SignalHandling(
                signals: lifecycle.signals, servers: lifecycle.servers,
                reload: { [reload = parts.reload, caller, directory = settings.stateDirectory] in
                    // The reload logs its error, and `status` reports it.
                    let result = await reload.result(for: Request(caller: caller, requestId: RequestId.make()))
                    await WorkThreads.blocking.run { result.report(in: directory) }
                }, logger: logger)
        ]
    }

    private var notifications: [any Service] {
        [
            ServiceNotifications(
                notifier: notifier, servers: lifecycle.servers, health: parts.health, logger: logger)
        ]
    }

    /// Empty if systemd expects no watchdog notifications.
    private var watchdog: [any Service] {
        guard let interval = lifecycle.systemd.watchdogInterval else { return [] }
        let check = LivenessCheck(
            [LivenessCheck.Part("event loops of the decryptor socket", ask: lifecycle.loopProbe.ask)]
                + parts.backend.livenessParts)
        return [Watchdog(every: interval, check: check, notifier: notifier, logger: logger)]
    }
}
