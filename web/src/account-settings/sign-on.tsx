import { NativeSelect, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { SignOnSettings } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Loaded } from '../components/page.tsx';
import { nextStep, SubmitForm } from '../forms/submit-form.tsx';
import { mayHaveProjects, ProjectsField } from '../members/invite.tsx';
import { roleOptions } from '../members/roles.ts';
import { ProveIdentity } from './prove-identity.tsx';

const SignOnForm = ({ settings, provider }: { readonly settings: SignOnSettings; readonly provider: string }) => {
  const { me } = useMe();
  const form = useForm({
    initialValues: {
      isOn: settings.provider !== null,
      defaultRole: settings.defaultRole,
      defaultProjects: [...(settings.defaultProjects ?? [])],
      isRequired: settings.isRequired,
    },
  });
  const [asked, setAsked] = useState<typeof form.values>();
  const change = useApi().useMutation('patch', '/sign-on', {
    onSuccess: () => {
      setAsked(undefined);
      form.resetDirty();
    },
    meta: { done: 'Single sign-on is changed.' },
  });
  const { isOn } = form.values;
  const changes = ({ defaultRole, defaultProjects: projects, isRequired }: typeof form.values) => {
    const defaultProjects = mayHaveProjects(defaultRole) && projects.length > 0 ? projects : null;
    return isOn ? { provider, defaultRole, defaultProjects, isRequired } : { provider: null, isRequired: false };
  };
  return (
    <>
      <SubmitForm
        form={form}
        request={nextStep(setAsked)}
        sent={(values) => values}
        submit="Save"
        disabled={!form.isDirty()}
        otherButtons={null}
      >
        <Switch
          label={`Members sign in at ${provider}`}
          description={
            settings.domains.length === 0
              ? 'Whoever signs in there becomes a member.'
              : `Whoever has an address of ${settings.domains.join(', ')} and signs in there becomes a member.`
          }
          {...form.getInputProps('isOn', { type: 'checkbox' })}
        />
        {isOn && (
          <>
            <NativeSelect label="Role of new members" data={roleOptions(me)} {...form.getInputProps('defaultRole')} />
            {mayHaveProjects(form.values.defaultRole) && (
              <ProjectsField label="Projects of new members" {...form.getInputProps('defaultProjects')} />
            )}
            <Switch
              label="Refuse passwords"
              description="Sessions that began with a password end. You, the owner, can still use yours."
              {...form.getInputProps('isRequired', { type: 'checkbox' })}
            />
          </>
        )}
      </SubmitForm>
      <ProveIdentity
        isOpen={asked !== undefined}
        title="Change single sign-on?"
        text="It decides who gets in. The owner gets a mail."
        action="Change it"
        failure="Single sign-on was not changed"
        request={change}
        bodyOf={(proof) => ({ ...changes(asked ?? form.values), ...proof })}
        onClose={() => setAsked(undefined)}
      />
    </>
  );
};

const stateText = ({ provider, isRequired, defaultRole }: SignOnSettings): string => {
  if (provider === null) return 'It is off.';
  const passwords = isRequired ? 'Passwords are refused.' : 'Passwords work, too.';
  return `Members sign in at ${provider}. New members get the role ${defaultRole}. ${passwords}`;
};

/** Only the owner changes it; everybody may read it. */
export const SignOn = () => {
  const { me, may } = useMe();
  const query = useApi().useQuery('get', '/sign-on');
  return (
    <Loaded query={query} title="The settings could not be loaded" height={44}>
      {(settings) => {
        const provider = settings.provider ?? settings.available;
        if (may('sign-on:write') && provider !== null)
          return <SignOnForm key={settings.provider} settings={settings} provider={provider} />;
        return (
          <Text size="sm">
            {stateText(settings)}{' '}
            {may('sign-on:write')
              ? 'There is no identity provider for the domain of your address: the operator of this deployment sets it up.'
              : me && 'The owner of the account changes this.'}
          </Text>
        );
      }}
    </Loaded>
  );
};
