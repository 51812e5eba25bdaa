import { z } from 'zod';
import type { UserPoolSeed } from '../../emulators/cognito.ts';
import { type App, definitions } from '../template/definitions.ts';

const poolSchema = z.object({
  Schema: z.array(z.object({ Name: z.string() })).default([]),
});

const MINUTES = { seconds: 1 / 60, minutes: 1, hours: 60, days: 24 * 60 } as const;
const unit = z.enum(['seconds', 'minutes', 'hours', 'days']);

const clientSchema = z.object({
  UserPoolId: z.string(),
  ClientName: z.string().optional(),
  GenerateSecret: z.boolean().default(false),
  ReadAttributes: z.array(z.string()).optional(),
  IdTokenValidity: z.number().optional(),
  AccessTokenValidity: z.number().optional(),
  RefreshTokenValidity: z.number().optional(),
  TokenValidityUnits: z
    .object({ IdToken: unit.optional(), AccessToken: unit.optional(), RefreshToken: unit.optional() })
    .default({}),
});

const minutes = (validity: number | undefined, unitName: keyof typeof MINUTES): number | undefined =>
  validity === undefined ? undefined : validity * MINUTES[unitName];

/** Standard attributes are named as they are; only custom ones get the prefix that tokens show. */
const STANDARD = new Set([
  ...['sub', 'name', 'given_name', 'family_name', 'middle_name', 'nickname', 'preferred_username', 'profile'],
  ...['picture', 'website', 'email', 'email_verified', 'gender', 'birthdate', 'zoneinfo', 'locale', 'phone_number'],
  ...['phone_number_verified', 'address', 'updated_at'],
]);

/** The user pools of the templates with their app clients, for the Cognito emulator. */
export const userPoolSeeds = (app: App): UserPoolSeed[] => {
  const clients = definitions(app, clientSchema, 'AWS::Cognito::UserPoolClient');
  return definitions(app, poolSchema, 'AWS::Cognito::UserPool').map((pool) => ({
    id: pool.ref,
    customAttributes: pool.properties.Schema.map(({ Name }) => Name)
      .filter((name) => !STANDARD.has(name))
      .map((name) => `custom:${name}`),
    clients: clients
      .filter((client) => client.properties.UserPoolId === pool.ref)
      .map(({ ref, properties: { TokenValidityUnits: units, ...validity } }) => ({
        id: ref,
        name: validity.ClientName,
        generatesSecret: validity.GenerateSecret,
        readAttributes: validity.ReadAttributes,
        // Cognito's default units: hours for the short-lived tokens, days for the refresh token.
        idTokenValidityMinutes: minutes(validity.IdTokenValidity, units.IdToken ?? 'hours'),
        accessTokenValidityMinutes: minutes(validity.AccessTokenValidity, units.AccessToken ?? 'hours'),
        refreshTokenValidityMinutes: minutes(validity.RefreshTokenValidity, units.RefreshToken ?? 'days'),
      })),
  }));
};
