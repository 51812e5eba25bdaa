import { identityEnvironment } from '../../environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { openIdentity } from '../auth/open-identity.ts';
import { identityRoutes } from '../identity.ts';
import { openFunction } from '../open-function.ts';

const environment = identityEnvironment.parse(process.env);
const { logger, table, options } = openFunction('dashboard-identity', environment);

/**
 * Serves registration, sign-in, members and API tokens. No other function of this API may touch the user pool. `me` verifies its token
 * itself: it has no authorizer.
 */
export const handler = httpStack(identityRoutes(openIdentity(table, environment, logger)), options);
