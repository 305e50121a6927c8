import HTTPKit
import Logging
import MerchantCore
import MerchantOperations
import MetricsKit
import PortalServer
import Schema
import Vocabulary
import WireAPI

/// The portal's files, read at the start, and its address.
struct PortalParts {
    let settings: PortalSettings
    let certificates: PortalCertificates
    let address: PortalAddress

    /// - Returns: nil if the settings define no portal.
    /// - Throws: ``SettingsError`` if one of the portal's TLS files cannot be used.
    init?(_ settings: Settings, clock: any WallClock, activeFindings: ActiveFindings, logger: Logger) throws {
        guard let portal = settings.portal else { return nil }
        self.settings = portal
        do throws(PortalTLSError) {
            certificates = try PortalCertificates(
                portal.tlsFiles, now: { clock.now }, logger: logger,
                onFinding: { finding in
                    if let finding {
                        activeFindings.set(.portalCertificateUnusable, .warning, finding)
                    } else {
                        activeFindings.clear(.portalCertificateUnusable)
                    }
                })
        } catch {
            throw SettingsError("\(error)")
        }
        address = PortalAddress { portal.url(port: $0) }
    }

    func server(
        _ settings: Settings, policy: CurrentValue<CallerPolicy>, operations: Operations,
        health: @escaping @Sendable () -> HealthDocument,
        requests: RequestMetrics, accessLog: AccessLog, clock: any WallClock, logger: Logger
    ) throws -> PortalServer {
        try PortalServer(
            settings: self.settings.listener, rates: self.settings.rates,
            notifications: settings.merchantTokens.notifications, certificates: certificates,
            operations: PortalOperations(from: operations), environment: settings.environment, policy: policy,
            address: address, health: health, openAPI: Schema.openAPI, requests: requests, accessLog: accessLog,
            logger: logger,
            now: { clock.now })
    }
}
