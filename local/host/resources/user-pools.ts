import { z } from 'zod';
import type { UserPoolSeed } from '../../emulators/cognito.ts';
import { type App, definitions } from '../template/definitions.ts';

const poolSchema = z.object({
  Schema: z.array(z.object({ Name: z.string() })).default([]),
});

const unit = z.enum(['seconds', 'minutes', 'hours', 'days']).exactOptional();

const clientSchema = z.object({
  UserPoolId: z.string(),
  ClientName: z.string().exactOptional(),
  GenerateSecret: z.boolean().default(false),
  ReadAttributes: z.array(z.string()).exactOptional(),
  IdTokenValidity: z.number().exactOptional(),
  AccessTokenValidity: z.number().exactOptional(),
  RefreshTokenValidity: z.number().exactOptional(),
  TokenValidityUnits: z.object({ IdToken: unit, AccessToken: unit, RefreshToken: unit }).exactOptional(),
});

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
      .map(({ ref, properties: { GenerateSecret, ...properties } }) => ({
        id: ref,
        generatesSecret: GenerateSecret,
        properties,
      })),
  }));
};
