import { z } from 'zod';
import type { UserPoolSeed } from '../../emulators/cognito.ts';
import { type App, definitions } from '../template/definitions.ts';

const poolSchema = z.object({
  /** Standard attributes have no type: only custom ones get the prefix that tokens show. */
  Schema: z.array(z.object({ Name: z.string(), AttributeDataType: z.string().optional() })).default([]),
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

/** The user pools of the templates with their app clients, for the Cognito emulator. */
export const userPoolSeeds = (app: App): UserPoolSeed[] => {
  const clients = definitions(app, clientSchema, 'AWS::Cognito::UserPoolClient');
  return definitions(app, poolSchema, 'AWS::Cognito::UserPool').map((pool) => ({
    id: pool.ref,
    customAttributes: pool.properties.Schema.filter(({ AttributeDataType }) => AttributeDataType !== undefined).map(
      ({ Name }) => `custom:${Name}`,
    ),
    clients: clients
      .filter((client) => client.properties.UserPoolId === pool.ref)
      .map(({ ref, properties: { GenerateSecret, ...properties } }) => ({
        id: ref,
        generatesSecret: GenerateSecret,
        properties,
      })),
  }));
};
