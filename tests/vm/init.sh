#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# The guest's first program, from its initramfs: the host's tree over 9p, read-only, with a RAM disk on top of it, becomes
# the root. A real root, by switch_root: a process that was only chroot'ed cannot make user namespaces.
set -eu
busybox=/bin/busybox
$busybox mkdir -p /proc /sys /dev /lower /upper /root
$busybox mount -t proc proc /proc
$busybox mount -t sysfs sys /sys
$busybox mount -t devtmpfs dev /dev
for module in $($busybox cat /modules/order); do $busybox insmod "/modules/$module"; done
$busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro host /lower
$busybox mount -t tmpfs -o size=75% upper /upper
$busybox mkdir /upper/files /upper/work
$busybox mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work root /root
$busybox mkdir -p /root/mnt/results
$busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none results /root/mnt/results
for place in proc sys dev; do $busybox mount --move /$place /root/$place; done
if [ -e /root/mnt/results/unit ]; then
  $busybox cp /root/mnt/results/unit /root/etc/systemd/system/rookery-guest.service
  # It would look at every file of the host's /tmp.
  $busybox ln -s /dev/null /root/etc/systemd/system/systemd-tmpfiles-setup.service
  exec $busybox switch_root /root /lib/systemd/systemd --system --unit=rookery-guest.service
fi
exec $busybox switch_root /root /usr/bin/python3 -B "$($busybox cat /root/mnt/results/guest)"
