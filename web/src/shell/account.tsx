import {
  ActionIcon,
  Box,
  Group,
  SegmentedControl,
  Stack,
  Text,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core';
import { LogOut } from 'lucide-react';
import { useState } from 'react';
import { useApp, useMe } from '../app.ts';
import { later } from '../components/later.tsx';
import { AnchorLink } from '../components/page.tsx';
import { timeZone, zoneName, zoneOffset } from '../format/time.ts';
import { useZone } from '../spend/use-spend.ts';

export const ColorScheme = () => {
  // Mantine would turn transitions off in a style element, which the page's policy forbids.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  return (
    <SegmentedControl
      size="xs"
      fullWidth
      aria-label="Colours"
      tt="capitalize"
      data={['light', 'dark', 'auto']}
      value={colorScheme}
      onChange={(value) => setColorScheme(value as 'light' | 'dark' | 'auto')}
    />
  );
};

const Reading = later(() => import('./reading.tsx'));

/** Whose days and which currency the figures have; a click changes that for this person. */
export const TimesShown = () => {
  const zone = useZone();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <UnstyledButton c="dimmed" fz={11.5} lh={1.45} px={10} pb={10} onClick={() => setIsOpen(true)}>
        Times: {timeZone.replaceAll('_', ' ')} ({zoneOffset()}). Days: {zoneName(zone)}.{' '}
        <span style={{ textDecoration: 'underline' }}>Zone and currency</span>
      </UnstyledButton>
      {isOpen && <Reading onClose={() => setIsOpen(false)} />}
    </>
  );
};

/** The signed-in user, and the button to sign out. */
export const SignedIn = () => {
  const { session } = useApp();
  const { me } = useMe();
  const { firstName = '', lastName = '', companyName, email } = me?.user ?? {};
  return (
    <Group gap={10} pl={10} pt={12} wrap="nowrap">
      <Box className="disc" w={32} h={32} fz={12} fw={650} aria-hidden>
        {`${firstName.slice(0, 1)}${lastName.slice(0, 1)}`.toUpperCase()}
      </Box>
      <Stack gap={0} flex={1} miw={0} mih={36} className="small" fw={560} title={email}>
        <AnchorLink to="/profile" inherit truncate title="Your profile">
          {`${firstName} ${lastName}`}
        </AnchorLink>
        <Text span truncate c="dimmed" fz={12}>
          {companyName ?? email ?? ' '}
        </Text>
      </Stack>
      <ActionIcon aria-label="Sign out" title="Sign out" onClick={() => session.end('signedOut')}>
        <LogOut size={16} />
      </ActionIcon>
    </Group>
  );
};
