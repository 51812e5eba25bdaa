import { z } from 'zod';
import type { SecretsEmulator } from '../../emulators/secrets.ts';
import { type App, definitions } from '../template/definitions.ts';

const secretSchema = z.object({
  Name: z.string().optional(),
  SecretString: z.string().optional(),
  GenerateSecretString: z
    .object({
      PasswordLength: z.number().optional(),
      SecretStringTemplate: z.string().optional(),
      GenerateStringKey: z.string().optional(),
    })
    .optional(),
});

/** Gives every secret of the templates its first value, unless it has one. Functions may ask by ARN or by name. */
export const createSecrets = (app: App, secrets: SecretsEmulator): void => {
  for (const { ref, properties } of definitions(app, secretSchema, 'AWS::SecretsManager::Secret')) {
    const {
      PasswordLength,
      SecretStringTemplate: json,
      GenerateStringKey: key,
    } = properties.GenerateSecretString ?? {};
    const value = secrets.ensure({
      id: ref,
      value: properties.SecretString,
      length: PasswordLength,
      template: json && key ? { json, key } : undefined,
    });
    if (properties.Name) secrets.ensure({ id: properties.Name, value });
  }
};
