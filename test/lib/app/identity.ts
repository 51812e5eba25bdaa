import { describe, expect, it } from '@jest/globals';
import { MIN_PASSWORD_CHARACTERS } from '../../../lambda/domain/accounts/passwords.ts';
import { parseStageSettings } from '../../../lib/config.ts';
import { filledIn, onlyResource, resourcesOf, synthStage, withSignOn } from '../synth-stage.ts';

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

  it('mails codes for new passwords, and says so', () => {
    const { EmailSubject, EmailMessage } = pool['VerificationMessageTemplate'] as Record<string, string>;
    expect(EmailSubject).toBe('Your code for a new password');
    expect(EmailMessage).toMatch(/new password.*\{####\}/s);
    expect(pool).toMatchObject({ EmailVerificationSubject: EmailSubject, EmailVerificationMessage: EmailMessage });
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

it('a session ends after 30 days, and a token after an hour', () => {
  const client = onlyResource(synthStage()('identity'), 'AWS::Cognito::UserPoolClient').Properties;
  expect(client).toMatchObject({
    RefreshTokenValidity: 30 * 24 * 60,
    IdTokenValidity: 60,
    AccessTokenValidity: 60,
    TokenValidityUnits: { RefreshToken: 'minutes', IdToken: 'minutes', AccessToken: 'minutes' },
  });
});

describe('single sign-on', () => {
  const settings = withSignOn;
  const { providers } = settings.signOn;
  const stack = synthStage(filledIn);

  it('is off without identity providers', () => {
    const identity = synthStage()('identity');
    expect(resourcesOf(identity, 'AWS::Cognito::UserPoolDomain')).toEqual({});
    expect(resourcesOf(identity, 'AWS::Cognito::UserPoolIdentityProvider')).toEqual({});
  });

  it('has each provider, with its client secret by reference alone', () => {
    const identity = stack('identity');
    const found = Object.values(resourcesOf(identity, 'AWS::Cognito::UserPoolIdentityProvider')).map(
      ({ Properties }) => Properties,
    );
    expect(found).toEqual([
      expect.objectContaining({
        ProviderName: 'Acme',
        ProviderType: 'OIDC',
        ProviderDetails: expect.objectContaining({
          oidc_issuer: 'https://login.acme.dev',
          client_id: 'spend',
          client_secret: expect.stringMatching(/^\{\{resolve:secretsmanager:acme\/spend-client:/),
          authorize_scopes: 'openid email profile',
        }),
        AttributeMapping: {
          email: 'email',
          email_verified: 'email_verified',
          given_name: 'given_name',
          family_name: 'family_name',
        },
      }),
      expect.objectContaining({
        ProviderName: 'Globex',
        ProviderType: 'SAML',
        ProviderDetails: expect.objectContaining({ MetadataURL: 'https://idp.globex.dev/metadata' }),
      }),
    ]);
    expect(onlyResource(identity, 'AWS::Cognito::UserPoolDomain').Properties['Domain']).toBe('acme-spend');
  });

  it('gives codes to the dashboard alone, which the confidential client exchanges, and knows no passwords', () => {
    const client = onlyResource(stack('identity'), 'AWS::Cognito::UserPoolClient');
    expect(client.Properties).toMatchObject({
      AllowedOAuthFlowsUserPoolClient: true,
      AllowedOAuthFlows: ['code'],
      CallbackURLs: ['https://app.acme.dev/sign-in/callback'],
      SupportedIdentityProviders: ['Acme', 'Globex'],
      GenerateSecret: true,
    });
  });

  it('is known to the dashboard API: where to sign in, and who vouches for which domain', () => {
    const variables = Object.values(resourcesOf(stack('dashboard-api'), 'AWS::Lambda::Function'))
      .map(({ Properties }) => (Properties['Environment'] as { Variables?: Record<string, unknown> })?.Variables ?? {})
      .find((each) => 'SIGN_ON_PROVIDERS' in each);
    expect(variables?.['SIGN_ON_PROVIDERS']).toBe(
      JSON.stringify({
        Acme: { domains: ['acme.dev', 'acme.io'], verifiesAddresses: false },
        Globex: { domains: ['globex.dev'], verifiesAddresses: true },
      }),
    );
    expect(variables?.['DASHBOARD_URL']).toBe('https://app.acme.dev');
    expect(JSON.stringify(variables?.['SIGN_ON_ORIGIN'])).toContain('amazoncognito.com');
  });

  it.each([
    [
      'a domain twice',
      { ...settings.signOn, providers: { A01: providers.Globex, B01: providers.Globex } },
      /domain twice/,
    ],
    ['providers without a prefix', { providers }, /domainPrefix: is needed/],
    ['a prefix without providers', { domainPrefix: 'acme-spend' }, /must have an identity provider/],
    [
      'the name Cognito',
      { ...settings.signOn, providers: { Cognito: providers.Globex } },
      /letters, digits or hyphens/,
    ],
    ['a name of two letters', { ...settings.signOn, providers: { HP: providers.Globex } }, /3 to 32 letters/],
    ['a name that Cognito reserves', { ...settings.signOn, providers: { Google: providers.Acme } }, /and not .*Google/],
    ['another type', { ...settings.signOn, providers: { Acme: { type: 'ldap' } } }, /oidc/],
    [
      'more than the variables of a function hold',
      {
        ...settings.signOn,
        providers: Object.fromEntries(
          Array.from({ length: 60 }, (_, n) => [
            `Customer-${n}`,
            { ...providers.Globex, domains: [`customer-${n}.dev`] },
          ]),
        ),
      },
      /signOn\.providers: must have at most 3000 bytes/,
    ],
    ['no domains', { ...settings.signOn, providers: { Acme: { ...providers.Globex, domains: [] } } }, /domains/],
  ])('refuses %s in the settings', (_, signOn, message) => {
    expect(() => parseStageSettings('dev', { ...settings, signOn })).toThrow(message);
  });

  it('needs a dashboard that providers can lead back to', () => {
    for (const dashboardUrl of [undefined, 'http://app.acme.dev'])
      expect(() => parseStageSettings('dev', { signOn: settings.signOn, dashboardUrl })).toThrow(
        /dashboardUrl: must be an https origin for signOn/,
      );
    expect(() => parseStageSettings('dev', { ...settings, dashboardUrl: 'http://localhost:3000' })).not.toThrow();
  });
});
