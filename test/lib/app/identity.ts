import { describe, expect, it } from '@jest/globals';
import { MIN_PASSWORD_CHARACTERS } from '../../../lambda/domain/accounts/password-rules.ts';
import { onlyResource, synthStage } from '../synth-stage.ts';

describe('the user pool', () => {
  const identity = synthStage()('identity');
  const pool = onlyResource(identity, 'AWS::Cognito::UserPool').Properties;
  const client = onlyResource(identity, 'AWS::Cognito::UserPoolClient').Properties;

  it('signs in by e-mail and lets nobody sign up around the dashboard API', () => {
    expect(pool).toMatchObject({
      UsernameAttributes: ['email'],
      UsernameConfiguration: { CaseSensitive: false },
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
      Policies: { PasswordPolicy: { MinimumLength: MIN_PASSWORD_CHARACTERS } },
      DeletionProtection: 'ACTIVE',
      MfaConfiguration: 'OPTIONAL',
      EnabledMfas: ['SOFTWARE_TOKEN_MFA'],
    });
  });

  it('has an account that never changes and that no client may write', () => {
    expect(pool['Schema']).toContainEqual(
      expect.objectContaining({ Name: 'accountId', AttributeDataType: 'String', Mutable: false }),
    );
    expect(client['WriteAttributes']).toEqual(['email', 'family_name', 'given_name']);
    expect(client['ReadAttributes']).not.toContain('custom:accountId');
  });

  it('takes passwords from our own handlers alone and does not tell who exists', () => {
    expect(client).toMatchObject({
      ExplicitAuthFlows: ['ALLOW_ADMIN_USER_PASSWORD_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH'],
      AllowedOAuthFlowsUserPoolClient: false,
      PreventUserExistenceErrors: 'ENABLED',
      EnableTokenRevocation: true,
      GenerateSecret: true,
    });
  });
});
