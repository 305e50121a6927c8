import MerchantCore
package import RESTKit

package typealias PortalRoute = RESTRoute<PortalHandlers>

/// Every REST route of the portal. Each group of routes is declared in the file of its handlers.
package enum PortalRoutes {
    package static let all: [PortalRoute] =
        merchants + keys + rolls + registrations + domains + merchantSessions + invitations + information
}
