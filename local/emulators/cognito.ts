import type { AppClient } from 'cognito-local/lib/services/appClient.js';
import { KNOWN_SECRET } from './guard.ts';
import { type Emulator, type EmulatorOptions, startWorker } from './worker.ts';

/** Region of everything local. */
export const LOCAL_REGION = 'eu-central-1';

/** A user pool to have, with its app clients. Ids must look as Cognito's do: aws-jwt-verify checks. */
export interface UserPoolSeed {
  /** `{region}_{characters}` */
  readonly id: string;
  readonly clients: readonly AppClientSeed[];
  /** Attributes beyond the standard ones, e.g. `custom:accountId`, as in CreateUserPool's Schema. */
  readonly customAttributes?: readonly string[] | undefined;
}

interface AppClientSeed {
  readonly id: string;
  /** The client has a secret, which calls must prove. */
  readonly generatesSecret?: boolean;
  /** Its other properties, as CreateUserPoolClient takes them; Cognito's defaults without them. */
  readonly properties?: Partial<AppClient>;
}

export interface CognitoEmulator extends Emulator {
  /** The first pool's id, and its first client's. */
  readonly userPoolId: string;
  readonly clientId: string;
  /** `iss` of the first pool's tokens: what Cognito's would be. */
  readonly issuer: string;
  /** Where the keys are: on AWS, `{issuer}/.well-known/jwks.json`. For aws-jwt-verify's `cacheJwks`. */
  readonly jwksUri: string;
}

export interface CognitoWorkerData {
  readonly dataDir: string;
  readonly issuerDomain: string;
  readonly userPools: readonly UserPoolSeed[];
  readonly mailEndpoint?: string;
  readonly secretAccessKey: string;
}

const DEFAULT_POOL: UserPoolSeed = {
  id: `${LOCAL_REGION}_Local0001`,
  clients: [{ id: 'localclient0000000000000001' }],
  customAttributes: ['custom:accountId'],
};

const ISSUER_DOMAIN = `https://cognito-idp.${LOCAL_REGION}.amazonaws.com`;

/**
 * Cognito user pools by cognito-local, in a worker thread, data as JSON under `dataDir`, with a key pair of its own. Intact after kill -9.
 *
 * @param options.userPools made unless they are there; one pool with one client by default
 * @param options.mailEndpoint an SES emulator that gets the mail Cognito would send (confirmation codes)
 */
export const startCognito = async ({
  logFile,
  ...options
}: EmulatorOptions & {
  readonly dataDir: string;
  readonly userPools?: readonly UserPoolSeed[];
  readonly mailEndpoint?: string;
}): Promise<CognitoEmulator> => {
  const data: CognitoWorkerData = {
    issuerDomain: ISSUER_DOMAIN,
    userPools: [DEFAULT_POOL],
    secretAccessKey: KNOWN_SECRET,
    ...options,
  };
  const { userPools } = data;
  const worker = await startWorker(new URL('./cognito-worker.ts', import.meta.url), { data, logFile });
  const userPoolId = userPools[0]?.id ?? '';
  return {
    ...worker,
    userPoolId,
    clientId: userPools[0]?.clients[0]?.id ?? '',
    issuer: `${ISSUER_DOMAIN}/${userPoolId}`,
    jwksUri: `${worker.endpoint}/${userPoolId}/.well-known/jwks.json`,
  };
};
